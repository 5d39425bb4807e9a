import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

/** The launcher of a bundle as a process of its own, with the agent that it starts. `says` waits for a text in what both print. */
export function startLauncher(t: TestContext, launcher: string, env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [launcher, 'run'], {
    env: { PATH: '/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGTERM'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  const says = async (pattern: RegExp, withinMs = 60_000) => {
    for (const endMs = Date.now() + withinMs; !pattern.test(text); await sleep(50)) {
      assert.ok(Date.now() < endMs && child.exitCode === null, text)
    }
  }
  return { process: child, says, text: () => text }
}
