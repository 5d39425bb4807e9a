import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sealRelease } from '@bridgework/contract/signed-release'
import { someOperator } from '../testing/test-operator.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')

test('a release is published when the key of the agents signed it, once, and newer than the one before', async (t) => {
  const { run, ask, publish } = await someReleases(t)
  const published = await publish('0.3.0')
  assert.deepEqual([published.code, published.err], [0, ''])

  assert.match((await publish('0.3.0')).err, /0\.3\.0 was published already/)
  assert.match((await publish('0.2.9')).err, /0\.2\.9 is not newer than 0\.3\.0/)
  assert.match((await publish('0.4')).err, /"0\.4" is not of the form 1\.2\.3/)
  assert.equal((await publish('0.4.0')).code, 0)
  assert.equal((await run('agent-release', 'withdraw', '--version', '0.4.0')).code, 0)
  const twice = await run('agent-release', 'withdraw', '--version', '0.4.0')
  assert.deepEqual([twice.code, /not published, or was withdrawn/.test(twice.err)], [1, true])
  assert.match((await publish('0.4.0')).err, /0\.4\.0 was published already/)
  const listed = (await ask('agent-release', 'list')) as { version: string; withdrawn_at: string | null }[]
  assert.deepEqual(
    listed.map(({ version, withdrawn_at }) => [version, withdrawn_at !== null]),
    [
      ['0.4.0', true],
      ['0.3.0', false],
    ],
  )
})

test('what is no whole release of the agents’ key is not published', async (t) => {
  const { run, ask, file, key, publishFile } = await someReleases(t)
  const good = sealRelease('0.3.0', Buffer.from('a program'), privateKey)
  const tampered = Buffer.from(good)
  tampered[tampered.length - 1] = 0
  assert.match((await publishFile(tampered)).err, /not whole/)
  assert.match((await publishFile(good.subarray(0, 40))).err, /not a release/)
  const foreign = generateKeyPairSync('ed25519').privateKey
  assert.match((await publishFile(sealRelease('0.3.0', Buffer.from(''), foreign))).err, /not signed with the key/)
  assert.match((await publishFile(Buffer.alloc(16 * 1024 * 1024 + 1))).err, /larger than 16777216 bytes/)

  writeFileSync(file, good)
  const publishWith = (...args: string[]) => run('agent-release', 'publish', ...args)
  assert.match((await publishWith('--file', '/missing', '--key', key)).err, /Cannot read the file \/missing \(ENOENT\)/)
  assert.match((await publishWith('--file', file, '--key', file)).err, /is not a public key \(Ed25519\)/)
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  assert.match((await publishWith('--file', file, '--key', key)).err, /is not a public key \(Ed25519\)/)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
  writeFileSync(key, rsa.export({ type: 'spki', format: 'pem' }))
  assert.match((await publishWith('--file', file, '--key', key)).err, /is not a public key \(Ed25519\)/)
  assert.equal((await run('agent-release', 'withdraw', '--version', 'newest')).code, 2)
  assert.deepEqual(await ask('agent-release', 'list'), [])
})

test('updates of an organization are turned on and off, and its history says so once for each change', async (t) => {
  const { run, ask, pool } = await someReleases(t)
  const { id } = await ask('organization', 'create', '--name', 'Smiles')
  const set = (to: string) => run('organization', 'set-agent-updates', '--organization', id, '--to', to)
  for (const to of ['on', 'on', 'off']) assert.equal((await set(to)).code, 0)
  assert.equal((await set('maybe')).code, 2)
  const { rows } = await pool.query(
    `select facts from audit_event where tenant_id = $1 and action = 'agent_updates.change' order by id`,
    [id],
  )
  assert.deepEqual(
    rows.map(({ facts }) => facts),
    [true, false].map((isOn) => ({ isOn, organization: { id, name: 'Smiles' } })),
  )
})

async function someReleases(t: TestContext) {
  const operator = await someOperator(t)
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-releases-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [file, key] = [join(folder, 'agent.release'), join(folder, 'key.pem')]
  writeFileSync(key, publicKey.export({ type: 'spki', format: 'pem' }))
  const publishFile = (bytes: Buffer) => {
    writeFileSync(file, bytes)
    return operator.run('agent-release', 'publish', '--file', file, '--key', key)
  }
  const publish = (version: string) => publishFile(sealRelease(version, Buffer.from(version), privateKey))
  return { ...operator, file, key, publish, publishFile }
}
