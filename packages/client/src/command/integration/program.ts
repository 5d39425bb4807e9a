import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { printable } from '../table.ts'

/** How a run of a program ended. `lastLine`: the last line of its output that says something, without characters that a terminal obeys. */
export type Ended = { how: 'exited' | 'timed out' | 'stopped'; code: number | null; lastLine: string; output: string }

/** No more of an output is kept. */
const outputMax = 4_000_000

/** Runs a program to its end, or kills it and what it started: after `withinMs`, or when `stop` fires. Throws when it cannot be started. */
export async function runProgram(
  [file = '', ...args]: readonly string[],
  options: {
    env: Readonly<Record<string, string | undefined>>
    withinMs: number
    stop: AbortSignal
    /** `file` is a line for the shell. */
    isShell?: boolean
  },
): Promise<Ended> {
  const { env, withinMs, stop, isShell = false } = options
  // A group of its own, so that what it started is killed with it. Windows has none.
  const hasGroup = process.platform !== 'win32'
  const child = spawn(file, args, { env, shell: isShell, detached: hasGroup, stdio: ['ignore', 'pipe', 'pipe'] })
  const limit = AbortSignal.timeout(withinMs)
  const ending = AbortSignal.any([limit, stop])
  const kill = () => killGroup(child, hasGroup)
  ending.addEventListener('abort', kill, { once: true })
  try {
    const output = Promise.all([textOf(child.stdout), textOf(child.stderr)])
    await once(child, 'spawn')
    if (ending.aborted) kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    // What it left running would hold its outputs open.
    kill()
    const [stdout, stderr] = await output
    const how = stop.aborted ? 'stopped' : limit.aborted ? 'timed out' : 'exited'
    return { how, code: child.exitCode, lastLine: lastLineOf(stderr) || lastLineOf(stdout), output: stdout }
  } finally {
    ending.removeEventListener('abort', kill)
  }
}

function killGroup(child: ChildProcess, hasGroup: boolean): void {
  if (child.pid === undefined) return
  try {
    if (hasGroup) process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    // It has ended, and all that it started.
  }
}

async function textOf(stream: Readable): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) if (text.length < outputMax) text += chunk
  return text
}

/** A stack trace and the name of a runtime may follow the line with the error. */
function lastLineOf(text: string): string {
  const lines = text.trimEnd().split('\n')
  const line = lines.findLast((each) => /error/i.test(each) && !/^\s+at /.test(each)) ?? lines.at(-1) ?? ''
  return printable(line).slice(0, 200)
}
