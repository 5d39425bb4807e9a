import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'

export type TestRun = { failure: string | null; ms: number }

/** Memory for the old objects of one test process, in MiB: a mutant that never stops collecting must not take the machine's. */
const heapMiB = 1_536
/**
 * Becomes Node, beside a shell that ends the whole group when the pipe that we hold ends: when a test has failed, when the time is over, and when
 * we are killed ourselves. Background commands of a shell read nothing, hence the other descriptor.
 */
const script = `(cat <&3 >/dev/null 2>&1; kill -KILL 0) >/dev/null 2>&1 & exec "$@" 3<&-`

/**
 * Runs a file of tests in a process until its first failure. `failure` says what was noticed: the name of the test that failed, the end of the
 * process, or that it took longer than `limitMs`. Null: everything passed. Nothing that the process started is left.
 */
export function runTestFile(
  file: string,
  options: { env: NodeJS.ProcessEnv; cwd: string; limitMs: number; signal?: AbortSignal | undefined },
): Promise<TestRun> {
  const startedAt = performance.now()
  const node = [process.execPath, `--max-old-space-size=${heapMiB}`, '--test-reporter=tap', file]
  // Of a run that node:test started, it would take over what this one reports.
  const { NODE_TEST_CONTEXT: _, ...env } = options.env
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...node], {
    cwd: options.cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  })
  const lifeline = child.stdio[3] as Writable
  lifeline.on('error', () => {})
  const end = () => lifeline.destroy()
  let failure: string | null = null
  let ending: string | null = null
  const notice = (what: string) => {
    failure ??= what
    end()
  }
  const timer = setTimeout(() => notice(`no end within ${Math.round(options.limitMs / 1000)} s`), options.limitMs)
  options.signal?.addEventListener('abort', end)
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const [, name] = /^\s*not ok \d+ - (.*)$/.exec(line) ?? []
    if (name !== undefined) notice(name)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      ending = code === 0 ? null : `the process ended with ${code ?? signal}`
      // What is left of the group goes, and with it the last that could write.
      end()
    })
    child.once('close', () => {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', end)
      failure ??= ending
      if (options.signal?.aborted) reject(options.signal.reason)
      else resolve({ failure, ms: performance.now() - startedAt })
    })
  })
}
