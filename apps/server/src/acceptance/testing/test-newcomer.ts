import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findClusterFolder } from '../../platform/database/embedded/cluster-folder.ts'
import { isAlive, killProcess, processesIn } from '../../platform/database/embedded/process-table.ts'
import { freePort } from '../../testing/test-port.ts'

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** A newcomer's clone with an empty data directory: what is started there is the program that `npm start` starts. Gone after the test. */
export async function someNewcomer(t: TestContext, options: { port?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  // As root, Postgres runs as an account that must be able to pass through.
  chmodSync(folder, 0o711)
  const dataDir = join(folder, 'data')
  const port = options.port ?? (await freePort())
  const children: ChildProcess[] = []
  t.after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await sleep(0)
    const home = findClusterFolder(dataDir)?.home
    for (const pid of postgresOf(dataDir)) killProcess(pid)
    while (postgresOf(dataDir).length > 0) await sleep(20)
    for (const path of [home, folder]) if (path) rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  })

  /** `descriptors`: how many files and connections it may have open; 0: as many as we. */
  function start(settings: NodeJS.ProcessEnv = {}, script = 'main.ts', args: string[] = [], descriptors = 0) {
    // What is compiled once serves every process of a test run.
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const program = [process.execPath, join(import.meta.dirname, '../..', script), ...args]
    const limit = descriptors > 0 ? ['/bin/sh', '-c', `ulimit -n ${descriptors}; exec "$0" "$@"`] : []
    const [command = '', ...rest] = [...limit, ...program]
    const child = spawn(command, rest, {
      cwd: '/',
      env: { PATH, NODE_COMPILE_CACHE, BRIDGEWORK_DATA_DIR: dataDir, BRIDGEWORK_PORT: String(port), ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    return watch(child)
  }

  return { dataDir, port, start }
}

function watch(child: ChildProcess) {
  const startedAt = performance.now()
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(
    ([code, signal]): Ended => ({ code: code as Ended['code'], signal: signal as Ended['signal'], stdout, stderr }),
  )
  return {
    pid: child.pid ?? 0,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    /** How long it took until everything that a newcomer reads was printed. */
    ready: async (): Promise<number> => {
      while (!stdout.includes('Press Ctrl-C to stop')) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It ended: ${stdout}${stderr}`)
        if (performance.now() - startedAt > 180_000) throw new Error(`It is not ready after 180 s: ${stdout}${stderr}`)
        await sleep(10)
      }
      return performance.now() - startedAt
    },
    kill: (signal: NodeJS.Signals): Promise<Ended> => {
      child.kill(signal)
      return ended
    },
  }
}

/** What bash prints when these lines are pasted into it. */
export function paste(lines: string, env = process.env): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', lines], { env }, (error, stdout, stderr) =>
      error ? reject(error) : resolve({ stdout, stderr }),
    )
  })
}

/** All processes that this one started, and those that they started. Linux only: elsewhere the list is empty. */
export function descendantsOf(pid: number): number[] {
  if (process.platform !== 'linux') return []
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = parentOf(name)
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const found: number[] = []
  for (const next = [pid]; next.length > 0; ) {
    const own = children.get(next.pop() ?? 0) ?? []
    found.push(...own)
    next.push(...own)
  }
  return found
}

function parentOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}

export function postgresOf(dataDir: string): number[] {
  const place = findClusterFolder(dataDir)
  return place ? processesIn(join(place.home, 'data')) : []
}

export function alive(pids: readonly number[]): number[] {
  return pids.filter(isAlive)
}
