import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import type { Pool } from 'pg'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { type CompanyId, type KeyPairId, newUuid } from '../../platform/identity/identity.ts'
import { createTokenIssuer, type TokenIssuer } from './access-token.ts'
import { type KeyRing, openKeyRing } from './key-ring.ts'
import { createSecretKey } from './secret.ts'
import { withdrawSigningKey } from './signing-key.ts'

const issuer = 'https://bridgework.example'
const audience = 'https://bridgework.example/api/v1/vendors'
const secretKey = createSecretKey(Buffer.alloc(32, 1))
const companyId = newUuid<CompanyId>()
const keyPairId = newUuid<KeyPairId>()

async function someIssuer(
  t: TestContext,
): Promise<{ tokens: TokenIssuer; keys: KeyRing; pool: Pool; clock: { now: Date } }> {
  const { pool } = await createTestDatabase(t)
  const keys = await openKeyRing({ pool, secretKey, log: () => {} })
  t.after(() => keys.close())
  const clock = { now: new Date() }
  return { tokens: createTokenIssuer({ issuer, audience, keys, now: () => clock.now }), keys, pool, clock }
}

/** A token signed with the service's own key, with other members than the service would write. */
async function forge(keys: KeyRing, header: Record<string, unknown>, claims: Record<string, unknown>): Promise<string> {
  const { kid, privateKey } = await keys.signer()
  const iat = Math.floor(Date.now() / 1000)
  const payload = {
    iss: issuer,
    aud: audience,
    sub: companyId,
    cid: keyPairId,
    iat,
    exp: iat + 3600,
    jti: 'x',
    ...claims,
  }
  const kept = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined))
  return await new SignJWT(kept).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header }).sign(privateKey)
}

const refused = { code: 'token_invalid' }

test('T01: a token names company and key pair and lives exactly six hours', async (t) => {
  const { tokens } = await someIssuer(t)

  const token = await tokens.issue(companyId, keyPairId)

  const { sub, cid, iss, aud, iat = 0, exp = 0, jti } = decodeJwt(token)
  assert.deepEqual(
    { sub, cid, iss, aud, life: exp - iat },
    { sub: companyId, cid: keyPairId, iss: issuer, aud: audience, life: 21600 },
  )
  assert.match(String(jti), /^[\da-f-]{36}$/)
  const { alg, typ, kid } = decodeProtectedHeader(token)
  assert.deepEqual({ alg, typ }, { alg: 'EdDSA', typ: 'at+jwt' })
  assert.match(String(kid), /^[\w-]{43}$/)
  const verified = await tokens.verify(token)
  assert.equal(verified.companyId, companyId)
  assert.equal(verified.keyPairId, keyPairId)
  assert.equal(verified.expiresAt.getTime(), exp * 1000)
})

test('B06, B07: a token that wants no signature, or no algorithm, is refused', async (t) => {
  const { tokens } = await someIssuer(t)
  const token = await tokens.issue(companyId, keyPairId)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { kid } = decodeProtectedHeader(token)
  const headers = [
    ...['none', 'None', 'NONE', 'nOnE', 'HS256', 'Ed25519', null, undefined].map((alg) => ({
      alg,
      typ: 'at+jwt',
      kid,
    })),
    {},
  ]
  for (const changed of headers) {
    const encoded = Buffer.from(JSON.stringify(changed)).toString('base64url')
    for (const mark of ['', signature]) await assert.rejects(tokens.verify(`${encoded}.${payload}.${mark}`), refused)
  }
  await assert.rejects(tokens.verify(`${header}.${payload}.`), refused)
})

test('B10: a header that brings a key of its own is refused, even when we signed it, and nothing is fetched', async (t) => {
  const { tokens, keys } = await someIssuer(t)
  const fetched = t.mock.method(globalThis, 'fetch', () => Promise.reject(new Error('no network in this test')))
  const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  for (const header of [
    { jku: 'https://evil.example/k' },
    { x5u: 'https://evil.example/c' },
    { jwk },
    { x5c: ['MII'] },
    { b64: true },
  ]) {
    await assert.rejects(tokens.verify(await forge(keys, header, {})), refused)
  }
  assert.equal(fetched.mock.callCount(), 0)
})

test('B12: one altered bit anywhere in a token is refused', async (t) => {
  const { tokens } = await someIssuer(t)
  const token = await tokens.issue(companyId, keyPairId)
  const parts = token.split('.')
  for (const [index, part] of parts.entries()) {
    const bytes = Buffer.from(part, 'base64url')
    // Every bit of the signature, and one bit of every byte of the rest.
    for (let bit = 0; bit < bytes.length * 8; bit += index === 2 ? 1 : 8) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const forged = parts.with(index, changed.toString('base64url')).join('.')
      await assert.rejects(tokens.verify(forged), refused)
    }
  }
})

test('B12, B15: a cut, doubled, padded or otherwise spelled token is refused', async (t) => {
  const { tokens } = await someIssuer(t)
  const token = await tokens.issue(companyId, keyPairId)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const last = signature.at(-1) ?? ''
  // The last character of 64 bytes carries four bits that do not count: decoders take 16 spellings for one signature.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const otherSpelling = alphabet[alphabet.indexOf(last) ^ 1] ?? ''
  const forms = [
    '',
    '.',
    '..',
    header,
    `${header}.${payload}`,
    `${token}.`,
    `${token}.${signature}`,
    `${token}.x.y`,
    token.slice(0, -1),
    `${token}=`,
    ` ${token}`,
    `${token}\n`,
    token + token,
    `${header}.${payload}.${signature.slice(0, -1)}${otherSpelling}`,
    `${header}=.${payload}.${signature}`,
    `${header}.${payload}!.${signature}`,
    JSON.stringify({ payload, protected: header, signature }),
    'x'.repeat(100_000),
  ]
  for (const form of forms) await assert.rejects(tokens.verify(form), refused, JSON.stringify(form).slice(0, 80))
  assert.equal((await tokens.verify(token)).companyId, companyId)
})

test('B16: a token works until its last second and not a moment longer, also one that was used before', async (t) => {
  const { tokens, clock } = await someIssuer(t)
  const token = await tokens.issue(companyId, keyPairId)
  const exp = Number(decodeJwt(token).exp) * 1000
  for (let turn = 0; turn < 2; turn += 1) {
    clock.now = new Date(exp - 1000)
    assert.equal((await tokens.verify(token)).companyId, companyId)
    clock.now = new Date(exp)
    await assert.rejects(tokens.verify(token), refused)
  }
})

test('B18, B19, B20: another issuer, audience, kind of token or subject is refused, though we signed it', async (t) => {
  const { tokens, keys } = await someIssuer(t)
  assert.equal((await tokens.verify(await forge(keys, {}, {}))).companyId, companyId)
  const claims = [
    { aud: undefined },
    { aud: 'https://other.example' },
    { aud: [audience] },
    { aud: ['https://other.example'] },
    { iss: undefined },
    { iss: `${issuer}/` },
    { sub: undefined },
    { sub: 7 },
    { sub: { id: companyId } },
    { sub: companyId.toUpperCase() },
    { cid: undefined },
    { cid: 'bwc_x' },
    { exp: undefined },
    { exp: '9999999999' },
    { exp: 9_999_999_999 },
    { iat: 9e15, exp: 9e15 },
    { iat: -9e15 },
    { iat: undefined },
    { iat: Date.now() / 1000 + 120 },
  ]
  for (const claim of claims)
    await assert.rejects(tokens.verify(await forge(keys, {}, claim)), refused, JSON.stringify(claim))
  for (const header of [
    { typ: 'JWT' },
    { typ: 'AT+JWT' },
    { typ: 'application/at+jwt' },
    { typ: undefined },
    { kid: undefined },
  ]) {
    await assert.rejects(tokens.verify(await forge(keys, header, {})), refused, JSON.stringify(header))
  }
})

test('a token signed by somebody else under our kid is refused', async (t) => {
  const { tokens } = await someIssuer(t)
  const token = await tokens.issue(companyId, keyPairId)
  const [header, payload] = token.split('.')
  const signature = sign(null, Buffer.from(`${header}.${payload}`), generateKeyPairSync('ed25519').privateKey)
  await assert.rejects(tokens.verify(`${header}.${payload}.${signature.toString('base64url')}`), refused)
})

test('B24: a withdrawn key ends its tokens at once, also those that were verified before', async (t) => {
  const { tokens, keys, pool } = await someIssuer(t)
  const token = await tokens.issue(companyId, keyPairId)
  await tokens.verify(token)

  await withdrawSigningKey(pool, secretKey, String(decodeProtectedHeader(token).kid))
  await keys.refresh()

  await assert.rejects(tokens.verify(token), refused)
  assert.equal((await tokens.verify(await tokens.issue(companyId, keyPairId))).companyId, companyId)
})

test('B24: a token that was verified before is taken at once, until time or a withdrawn key ends it', async (t) => {
  const { tokens, keys, pool, clock } = await someIssuer(t)
  const token = await tokens.issue(companyId, keyPairId)
  assert.equal(tokens.verifyAtOnce(token), null, 'its signature was never looked at')
  const taken = await tokens.verify(token)
  assert.equal(tokens.verifyAtOnce(token), taken)
  assert.equal(tokens.verifyAtOnce(`${token}x`), null)
  assert.equal(tokens.verifyAtOnce('x'.repeat(5_000)), null)

  const issuedAt = clock.now
  clock.now = new Date(issuedAt.getTime() + 6 * 3_600_000 + 1_000)
  assert.throws(() => tokens.verifyAtOnce(token), refused)
  clock.now = issuedAt

  await withdrawSigningKey(pool, secretKey, String(decodeProtectedHeader(token).kid))
  await keys.refresh()
  assert.throws(() => tokens.verifyAtOnce(token), refused)
})

test('B25: a server whose clock is an hour behind takes no token from the future, one minute is forgiven', async (t) => {
  const { tokens, clock } = await someIssuer(t)
  const issuedAt = clock.now.getTime()
  const token = await tokens.issue(companyId, keyPairId)
  clock.now = new Date(issuedAt - 3_600_000)
  await assert.rejects(tokens.verify(token), refused)
  clock.now = new Date(issuedAt - 59_000)
  assert.equal((await tokens.verify(token)).companyId, companyId)
  // Also when the clock is set back after the token was taken once.
  clock.now = new Date(issuedAt - 3_600_000)
  await assert.rejects(tokens.verify(token), refused)
  clock.now = new Date(issuedAt + 6 * 3_600_000 + 60_000)
  await assert.rejects(tokens.verify(token), refused)
})

test('B27: a flood of invalid tokens asks nothing of the database', async (t) => {
  const { tokens, keys, pool } = await someIssuer(t)
  const good = await tokens.issue(companyId, keyPairId)
  const [header = '', payload = ''] = good.split('.')
  const unknownKid = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'at+jwt', kid: 'x'.repeat(43) })).toString(
    'base64url',
  )
  await keys.refresh()
  const queries = t.mock.method(pool, 'query')
  const startedAtMs = performance.now()
  const count = 1000
  for (let i = 0; i < count; i += 1) {
    const garbage = Buffer.alloc(64, i).toString('base64url')
    for (const token of ['garbage', `${header}.${payload}.${garbage}`, `${unknownKid}.${payload}.${garbage}`]) {
      await assert.rejects(tokens.verify(token), refused)
    }
  }
  // The ring's own reading, twice in a second or so, is the only one there may be.
  const own = Math.ceil((performance.now() - startedAtMs) / 400) + 1
  assert.ok(queries.mock.callCount() <= own, `${queries.mock.callCount()} statements`)
})
