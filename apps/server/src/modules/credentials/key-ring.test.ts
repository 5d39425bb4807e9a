import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import type { Pool } from 'pg'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { type CompanyId, type KeyPairId, newUuid } from '../../platform/identity/identity.ts'
import { createTokenIssuer } from './access-token.ts'
import { type KeyRing, openKeyRing } from './key-ring.ts'
import { createSecretKey } from './secret.ts'
import { listSigningKeys, rotateSigningKey, withdrawSigningKey } from './signing-key.ts'

const secretKey = createSecretKey(Buffer.alloc(32, 2))

async function openRing(t: TestContext, pool: Pool): Promise<KeyRing> {
  // A poll that never comes: each test says when a process reads.
  const ring = await openKeyRing({ pool, secretKey, log: () => {}, pollMs: 1_000_000 })
  t.after(() => ring.close())
  return ring
}

function issuerOf(keys: KeyRing) {
  return createTokenIssuer({
    issuer: 'https://b.example',
    audience: 'https://b.example/v',
    keys,
    now: () => new Date(),
  })
}

const issue = (keys: KeyRing) => issuerOf(keys).issue(newUuid<CompanyId>(), newUuid<KeyPairId>())

test('two processes that start at once on an empty database end with one signing key', async (t) => {
  const { pool } = await createTestDatabase(t)
  const rings = await Promise.all(Array.from({ length: 6 }, () => openRing(t, pool)))
  const kids = await Promise.all(rings.map(async (ring) => (await ring.signer()).kid))
  assert.equal(new Set(kids).size, 1)
  assert.equal((await listSigningKeys(pool)).length, 1)
})

test('K15: the published keys are public halves only, and the private half is sealed in the database', async (t) => {
  const { pool } = await createTestDatabase(t)
  const ring = await openRing(t, pool)
  const { keys } = await ring.jwks()
  assert.equal(keys.length, 1)
  assert.deepEqual(Object.keys(keys[0] ?? {}).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  const { rows } = await pool.query('select private_jwk from signing_key')
  assert.match(rows[0].private_jwk, /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/)
  await assert.rejects(openKeyRing({ pool, secretKey: createSecretKey(Buffer.alloc(32, 3)), log: () => {} }))
})

test('B24: after a rotation old tokens stay valid on every process, and new ones are signed with the new key once all know it', async (t) => {
  const { pool } = await createTestDatabase(t)
  const [here, there] = [await openRing(t, pool), await openRing(t, pool)]
  const before = await issue(here)

  const newKid = await rotateSigningKey(pool, secretKey)
  await here.refresh()

  // Within the lead time the old key signs, because the other process does not know the new one yet.
  const between = await issue(here)
  assert.notEqual(decodeProtectedHeader(between).kid, newKid)
  await issuerOf(there).verify(between)
  await pool.query(`update signing_key set created_at = created_at - interval '3 seconds'`)
  await Promise.all([here.refresh(), there.refresh()])
  const after = await issue(here)
  assert.equal(decodeProtectedHeader(after).kid, newKid)
  for (const ring of [here, there]) {
    for (const token of [before, between, after]) await issuerOf(ring).verify(token)
    assert.equal((await ring.jwks()).keys.length, 2)
  }
  const states = (await listSigningKeys(pool)).map(({ kid, state }) => [kid === newKid, state])
  assert.deepEqual(states, [
    [true, 'active'],
    [false, 'retired'],
  ])
})

test('a retired key is forgotten when the last token that it signed has expired', async (t) => {
  const { pool } = await createTestDatabase(t)
  const ring = await openRing(t, pool)
  const { kid } = await ring.signer()
  await rotateSigningKey(pool, secretKey)
  await pool.query(`update signing_key set retired_at = retired_at - interval '6 hours 6 minutes' where kid = $1`, [
    kid,
  ])
  await ring.refresh()
  assert.equal(await ring.verifier(kid), null)
  assert.equal((await ring.jwks()).keys.length, 1)
})

test('B24: a withdrawn key verifies nothing on any process within a second, and another one signs at once', async (t) => {
  const { pool } = await createTestDatabase(t)
  const here = await openRing(t, pool)
  const there = await openKeyRing({ pool, secretKey, log: () => {}, pollMs: 50 })
  t.after(() => there.close())
  const { kid } = await here.signer()
  const token = await issue(here)

  await withdrawSigningKey(pool, secretKey, kid)
  const withdrawnAtMs = performance.now()

  // One process reads on its timer; the other one's timer never comes, so it must notice by the age of what it read.
  for (const ring of [here, there]) {
    while ((await ring.verifier(kid)) !== null) {
      assert.ok(performance.now() - withdrawnAtMs < 1500, 'the key still verifies')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await assert.rejects(issuerOf(ring).verify(token), { code: 'token_invalid' })
    assert.notEqual((await ring.signer()).kid, kid)
  }
  await assert.rejects(withdrawSigningKey(pool, secretKey, kid), { code: 'signing_key_unknown' })
})

test('while the database does not answer, no key that may have been withdrawn verifies', async (t) => {
  const { pool } = await createTestDatabase(t)
  const ring = await openRing(t, pool)
  const { kid } = await ring.signer()
  const now = performance.now()
  t.mock.method(pool, 'query', () => Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' })))
  assert.notEqual(await ring.verifier(kid), null)
  t.mock.method(performance, 'now', () => now + 1500)
  await assert.rejects(ring.verifier(kid), { code: 'ECONNREFUSED' })
  assert.equal(ring.verifierAtOnce(kid), undefined)
})
