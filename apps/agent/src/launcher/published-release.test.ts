import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sealRelease } from '@bridgework/contract/signed-release'
import { publishRelease } from '../../../server/src/modules/agents/release.ts'
import { setAgentUpdates } from '../../../server/src/modules/directory/organization.ts'
import { installTestAgent, startLauncher } from './testing/test-launcher.ts'
import { openUpdates } from './updates.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')

test('an installed agent takes what the operator publishes where updates are on, and reports what it rolled back', async (t) => {
  const { server, folder, launcher, env, bundle } = await installTestAgent(t, publicKey)
  const { pool } = server.service
  const publish = (version: string, bytes: Buffer) =>
    publishRelease(pool, sealRelease(version, bytes, privateKey), publicKey, async () => {})
  const contactsOf = (version: string) =>
    server.requests.filter(
      ({ kind, headers }) => kind === 'heartbeats' && headers['user-agent']?.endsWith(`/${version}`),
    )
  const partsOf = (version: string) =>
    server.requests.filter(({ path }) => path.includes(`/releases/${version}/parts/`))
  const until = async (isSo: () => Promise<boolean> | boolean) => {
    for (const endMs = Date.now() + 120_000; !(await isSo()); await sleep(50)) {
      assert.ok(Date.now() < endMs && running.process.exitCode === null, running.text())
    }
  }

  // The same agent under a later version.
  const [, packaged = ''] = /releaseVersion = "([\d.]+)"/.exec(bundle) ?? []
  await publish('9.1.0', Buffer.from(bundle.replace(`releaseVersion = "${packaged}"`, 'releaseVersion = "9.1.0"')))
  const running = startLauncher(t, launcher, env)
  await until(() => contactsOf(packaged).length > 1)
  assert.equal(partsOf('9.1.0').length, 0, 'updates are off')

  await setAgentUpdates(pool, server.organizationId, true)
  await running.says(/Version 9\.1\.0 of the agent is downloaded and verified/, 120_000)
  await running.says(/Version 9\.1\.0 reported/, 120_000)
  const updates = openUpdates(folder, publicKey)
  assert.equal(updates.read().current, '9.1.0')

  await publish('9.2.0', Buffer.from('process.exit(2)\n'))
  await running.says(
    /ROLLED BACK: version 9\.2\.0, because it ended with exit code 2 .* Going on with 9\.1\.0/,
    120_000,
  )
  await running.says(/ROLLED BACK: version 9\.2\.0 of the agent did not report/, 120_000)
  const { rows } = await pool.query('select failed_release, failed_release_outcome from agent where id = $1', [
    server.agentId,
  ])
  assert.deepEqual(rows, [{ failed_release: '9.2.0', failed_release_outcome: 'rolled_back' }])
  const contacts = contactsOf('9.1.0').length
  await until(() => contactsOf('9.1.0').length > contacts + 1)
  assert.equal(partsOf('9.2.0').length, 1, 'not downloaded again')
  assert.deepEqual([updates.read().current, updates.read().refused], ['9.1.0', ['9.2.0']])
  running.process.kill('SIGTERM')
  assert.deepEqual(await once(running.process, 'close'), [0, null], running.text())
})
