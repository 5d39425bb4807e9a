import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sealRelease } from '@bridgework/contract/signed-release'
import { runAgentCommand } from '../testing/test-agent.ts'
import { installTestAgent, startLauncher } from './testing/test-launcher.ts'
import { openUpdates } from './updates.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')

test('an installed agent takes a signed update, reports, survives kills, and rolls a broken one back', async (t) => {
  const { server, folder, launcher, env, bundle } = await installTestAgent(t, publicKey)
  const updates = openUpdates(folder, publicKey)
  const update = (name: string, bytes: Buffer) => {
    const file = join(folder, name)
    writeFileSync(file, bytes)
    return runAgentCommand(['update', '--file', file], { main: launcher, env })
  }

  // The same agent under a later version.
  const later = Buffer.from(bundle.replace(/releaseVersion = "[\d.]+"/, 'releaseVersion = "9.1.0"'))
  assert.notEqual(later.toString(), bundle)
  const foreign = generateKeyPairSync('ed25519').privateKey
  const refused = await update('foreign.release', sealRelease('9.1.0', later, foreign))
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /not signed with the key/)
  const taken = await update('good.release', sealRelease('9.1.0', later, privateKey))
  assert.deepEqual([taken.code, taken.stderr], [0, ''])
  assert.equal(taken.stdout, 'Version 9.1.0 is installed. A running agent tries it within a minute.\n')
  const { BRIDGEWORK_AGENT_DATA_DIR: _, ...withoutFolder } = env
  for (const [args, given, expected] of [
    [['--file', join(folder, 'none')], env, /^The update is not installed \(ENOENT\)\. Nothing changed\.\n$/],
    [[], env, /--file is missing\. See "bridgework-agent update --help"\./],
    [['--file', 'x'], withoutFolder, /BRIDGEWORK_AGENT_DATA_DIR is not set\. Install the new package\./],
  ] as const) {
    const ended = await runAgentCommand(['update', ...args], { main: launcher, env: given })
    assert.match(ended.stderr, expected)
  }

  const first = startLauncher(t, launcher, env)
  await first.says(/Version 9\.1\.0 reported/)
  assert.ok(server.requests.some(({ headers }) => headers['user-agent'] === 'bridgework-agent/9.1.0'))
  assert.equal(updates.read().current, '9.1.0')
  // The launcher alone is killed: the agent must not go on without it, or the next one would find its state in use.
  first.process.kill('SIGKILL')
  await once(first.process, 'close')

  const broken = await update('broken.release', sealRelease('9.2.0', Buffer.from('process.exit(2)\n'), privateKey))
  assert.equal(broken.code, 0, broken.stderr)
  server.requests.splice(0)
  const second = startLauncher(t, launcher, env)
  await second.says(/ROLLED BACK: version 9\.2\.0, because it ended with exit code 2 .* Going on with 9\.1\.0/)
  for (const endMs = Date.now() + 60_000; server.requests.length === 0; await sleep(50)) assert.ok(Date.now() < endMs)
  assert.equal(server.requests[0]?.headers['user-agent'], 'bridgework-agent/9.1.0')
  assert.deepEqual([updates.read().current, updates.read().refused], ['9.1.0', ['9.2.0']])
  second.process.kill('SIGTERM')
  assert.deepEqual(await once(second.process, 'close'), [0, null], second.text())
})

test('a build without a key takes no updates', async () => {
  const ended = await runAgentCommand(['update', '--file', 'x'])
  assert.equal(ended.code, 2)
  assert.match(ended.stderr, /This build of the agent takes no updates\. Install the new package\./)
})
