import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')

/** Runs a test file as `npm test` does, with the settings that make more of it, and fails as it does. What it says goes on. */
export async function runTests(file: string, settings: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'scripts/test-world.ts'), file], {
    cwd: root,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const stop = () => child.kill('SIGTERM')
  for (const signal of signals) process.once(signal, stop)
  try {
    const [code] = await once(child, 'exit')
    assert.equal(code, 0, `${file} failed: what it said is above`)
  } finally {
    for (const signal of signals) process.off(signal, stop)
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const
