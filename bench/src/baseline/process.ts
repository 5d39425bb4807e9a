import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export type Baseline = { url: string; pid: number; stop: () => Promise<void> }

/** The hand-written server in a process of its own, on the same Postgres. */
export async function startBaseline(databaseUrl: string): Promise<Baseline> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), databaseUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await firstLine(child)
  if (child.pid === undefined) throw new Error('the baseline does not run')
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no output to read')
  for await (const line of createInterface(child.stdout)) return line
  throw new Error('the baseline ended before it listened')
}
