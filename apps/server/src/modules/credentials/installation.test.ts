import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { requireInstallation, WrongSecretKey } from './installation.ts'
import { createSecretKey, isSameHash, isSecret, newSecret } from './secret.ts'
import { loadSecretKey, SecretKeyFileError } from './secret-key-file.ts'

function someDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'bridgework-key-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

test('F22: a database refuses another secret key than the one that it was set up with, in one line', async (t) => {
  const { pool } = await createTestDatabase(t)
  const [right, wrong] = [createSecretKey(Buffer.alloc(32, 1)), createSecretKey(Buffer.alloc(32, 2))]
  const starts = await Promise.all([requireInstallation(pool, right), requireInstallation(pool, right)])
  assert.equal(starts[0].installationId, starts[1].installationId)
  assert.deepEqual(await requireInstallation(pool, createSecretKey(Buffer.alloc(32, 1))), starts[0])
  await assert.rejects(requireInstallation(pool, wrong), (error) => {
    assert.ok(error instanceof WrongSecretKey)
    assert.match(error.message, /^The secret key is not the one [^\n]*$/)
    return true
  })
})

test('F22: a missing, empty, readable, short or otherwise wrong key file is refused in one line that names it, and never replaced', (t) => {
  const directory = someDirectory(t)
  const path = join(directory, 'key')
  const load = () => loadSecretKey({ secretKeyFile: path, dataDir: directory })
  const refuse = (expected: RegExp) =>
    assert.throws(load, (error) => {
      assert.ok(error instanceof SecretKeyFileError)
      assert.match(error.message, expected)
      assert.ok(error.message.includes(path) && !error.message.includes('\n'))
      return true
    })
  refuse(/cannot be read: ENOENT/)
  assert.deepEqual(readdirSync(directory), [])
  const good = Buffer.alloc(32, 9).toString('base64')
  for (const [content, expected] of [
    ['', /is empty/],
    ['\n', /is empty/],
    ['short', /must hold 32 random bytes/],
    [good.slice(4), /must hold 32 random bytes/],
    [`${good}${good}`, /must hold 32 random bytes/],
    ['!'.repeat(44), /must hold 32 random bytes/],
  ] as const) {
    writeFileSync(path, content, { mode: 0o600 })
    refuse(expected)
  }
  writeFileSync(path, `${good}\n`)
  chmodSync(path, 0o644)
  refuse(/chmod 600/)
  chmodSync(path, 0o600)
  assert.deepEqual(load().check, createSecretKey(Buffer.alloc(32, 9)).check)
})

test('without a setting the key is made once in the data directory, for its owner’s eyes only', (t) => {
  const dataDir = join(someDirectory(t), 'data')
  const first = loadSecretKey({ secretKeyFile: null, dataDir })
  const second = loadSecretKey({ secretKeyFile: null, dataDir })
  assert.deepEqual(first.check, second.check)
  assert.deepEqual(readdirSync(dataDir), ['secret.key'])
  assert.equal(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600)
  assert.equal(Buffer.from(readFileSync(join(dataDir, 'secret.key'), 'utf8').trim(), 'base64').length, 32)
})

test('secrets are random and recognisable, hashes are bound to the key, and comparison is by content', () => {
  const [left, right] = [newSecret('bws'), newSecret('bws')]
  assert.notEqual(left, right)
  assert.ok(isSecret('bws', left))
  for (const other of ['', 'bws_', left.slice(1), `${left}A`, left.replace('bws', 'bwa'), `${left.slice(0, -1)}!`]) {
    assert.equal(isSecret('bws', other), false)
  }
  const [mine, yours] = [createSecretKey(Buffer.alloc(32, 1)), createSecretKey(Buffer.alloc(32, 2))]
  assert.equal(isSameHash(mine.hmac(left), mine.hmac(left)), true)
  assert.equal(isSameHash(mine.hmac(left), mine.hmac(right)), false)
  assert.equal(isSameHash(mine.hmac(left), yours.hmac(left)), false)
  assert.equal(isSameHash(mine.hmac(left), new Uint8Array()), false)
  assert.throws(() => createSecretKey(Buffer.alloc(31)))
})
