import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A server in a process of its own. */
export type Child = { pid: number; stop: () => Promise<void> }

const installed = join(import.meta.dirname, '../../peers/node_modules')

/** A file of an optional package; null where it is not installed. */
export function peerFile(path: string): string | null {
  const file = join(installed, path)
  return existsSync(file) ? file : null
}

/** Starts a program and waits until an address answers. */
export async function startChild(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; readyUrl: string; waitMs?: number },
): Promise<Child> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2_000)
  })
  child.on('error', (error) => {
    said += error.message
  })
  const begunAt = performance.now()
  while (!(await answers(options.readyUrl))) {
    if (hasEnded(child) || child.pid === undefined) throw new Error(`${program} ended: ${said}`)
    if (performance.now() - begunAt > (options.waitMs ?? 60_000)) {
      child.kill('SIGKILL')
      throw new Error(`${program} does not answer: ${said}`)
    }
    await sleep(100)
  }
  return {
    pid: child.pid ?? 0,
    async stop() {
      if (hasEnded(child)) return
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await Promise.race([exit, sleep(5_000, undefined, { ref: false })])
      if (!hasEnded(child)) child.kill('SIGKILL')
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    await answer.arrayBuffer()
    return answer.status < 500
  } catch {
    return false
  }
}
