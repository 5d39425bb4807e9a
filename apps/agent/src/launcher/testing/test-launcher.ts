import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import type { KeyObject } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { bundleAgent } from '../../../scripts/bundle.mjs'
import { testPractice } from '../../open-dental/testing/test-practice.ts'
import { temporaryFolder, writeTestConfig } from '../../testing/test-agent.ts'
import { startTestService } from '../../testing/test-service.ts'

/** An agent as it is installed, with this key for its updates: its bundle, the settings of its launcher, a practice to read and a service. */
export async function installTestAgent(t: TestContext, publicKey: KeyObject) {
  const mariaDb = await startTestMariaDb(t)
  const server = await startTestService(t)
  const practice = await testPractice(mariaDb)
  const folder = temporaryFolder(t)
  const config = writeTestConfig(folder, server, practice.settings, { interval_seconds: 5 })
  const program = join(folder, 'program')
  await bundleAgent(program, publicKey.export({ type: 'spki', format: 'pem' }).toString())
  writeFileSync(join(program, 'package.json'), '{ "type": "module" }')
  return {
    server,
    folder,
    launcher: join(program, 'launcher.mjs'),
    env: { BRIDGEWORK_AGENT_DATA_DIR: folder, BRIDGEWORK_AGENT_CONFIG: config },
    bundle: readFileSync(join(program, 'bridgework-agent.js'), 'utf8'),
  }
}

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
