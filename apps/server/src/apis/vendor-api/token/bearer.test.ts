import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { regenerateKeyPair, revokeKeyPair } from '../../../modules/credentials/key-pair.ts'
import { openKeyRing } from '../../../modules/credentials/key-ring.ts'
import { rotateSigningKey, withdrawSigningKey } from '../../../modules/credentials/signing-key.ts'
import { someWorld, type TestWorld } from '../../../testing/test-world.ts'
import { assertProblem, eventually, getWith } from '../testing/test-answer.ts'
import { times } from '../testing/test-runs.ts'

/** A world with one granted location, a good token, and the two protected paths that every token is tried on. */
async function withToken(t: TestContext, options: Parameters<typeof someWorld>[1] = {}) {
  const world = await someWorld(t, options)
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  const paths = ['/locations', `/locations/${location.id}/insurance_plans`]
  const refuse = async (authorization: string | undefined, code: 'token_invalid' | 'token_required') => {
    for (const path of paths) assertProblem(await getWith(world, path, authorization), code)
  }
  const accept = async (authorization: string) => {
    for (const path of paths) assert.equal((await getWith(world, path, authorization)).status, 200, path)
  }
  return { world, location, vendor, token: await vendor.token(), refuse, accept, paths }
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('B01: without a token the answer says how to authenticate, and names no error', async (t) => {
  const { world, paths, refuse } = await withToken(t)
  await refuse(undefined, 'token_required')
  const answer = await getWith(world, paths[0] ?? '', undefined)
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
})

test('B02, B03: the header is one scheme and one token; the scheme’s case does not matter, its name does', async (t) => {
  const { world, token, refuse, accept, paths } = await withToken(t)
  for (const header of ['', 'Bearer', 'Bearer ', `Bearer ${token} ${token}`, `Bearer a b`, `Bearer "${token}"`]) {
    await refuse(header, 'token_invalid')
  }
  for (const header of [`Basic ${token}`, `Token ${token}`, token, `Bearer,${token}`]) {
    await refuse(header, 'token_invalid')
  }
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) await accept(`${scheme} ${token}`)
  const wrong = await getWith(world, paths[0] ?? '', 'Bearer x')
  assert.equal(wrong.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
})

test('B05: a token anywhere but in the header is no token, and is not logged', async (t) => {
  const { world, token } = await withToken(t)
  const elsewhere: [path: string, headers: Record<string, string>][] = [
    [`/locations?access_token=${token}`, {}],
    [`/locations?token=${token}`, {}],
    ['/locations', { cookie: `token=${token}; access_token=${token}; Authorization=Bearer ${token}` }],
    ['/locations', { 'x-access-token': token, 'proxy-authorization': `Bearer ${token}` }],
  ]
  for (const [path, headers] of elsewhere) {
    assertProblem(await world.request(vendorApiPath + path, { headers }), 'token_required')
  }
  const form = await world.request(`${vendorApiPath}/locations`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `access_token=${token}`,
  })
  assertProblem(form, 'token_required')
  assert.equal(JSON.stringify(world.events).includes(token), false)
})

test('B06, B07, B10, B12, B15: a token that was altered, or that was never ours, is refused', async (t) => {
  const { token, refuse } = await withToken(t)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { kid } = decodeProtectedHeader(token)
  const headers = [
    ...['none', 'None', 'NONE', 'nOnE', null, 'HS256', 'ES256'].map((alg) => ({ alg, typ: 'at+jwt', kid })),
    {},
    { typ: 'at+jwt', kid },
    ...['jku', 'x5u', 'jwk', 'x5c', 'crit'].map((name) => ({
      alg: 'EdDSA',
      typ: 'at+jwt',
      kid,
      [name]: 'http://127.0.0.1:9/keys',
    })),
    { alg: 'EdDSA', typ: 'at+jwt', kid: 'another' },
    { alg: 'EdDSA', typ: 'at+jwt', kid: `${kid}' or true --` },
  ]
  for (const each of headers) {
    await refuse(`Bearer ${part(each)}.${payload}.${signature}`, 'token_invalid')
    await refuse(`Bearer ${part(each)}.${payload}.`, 'token_invalid')
  }
  const claims = decodeJwt(token)
  const longer = part({ ...claims, exp: Number(claims.exp) + 60 })
  const flipped = (signature[0] === 'A' ? 'B' : 'A') + signature.slice(1)
  for (const altered of [
    `${header}.${longer}.${signature}`,
    `${header}.${payload}.${flipped}`,
    `${header}.${payload}.${signature.slice(0, -1)}`,
    `${header}.${payload}.${signature}${signature}`,
    `${header}.${payload}.${signature}=`,
    `${token}.${signature}`,
    `${token}..${signature}`,
    `${header}.${payload}`,
    token + token,
    'x'.repeat(10_000),
  ]) {
    await refuse(`Bearer ${altered}`, 'token_invalid')
  }
})

test('B16, B25: a token works until its last second by the server’s clock, and from the future it does not', async (t) => {
  let offsetMs = 0
  const { token, refuse, accept } = await withToken(t, { now: () => new Date(Date.now() + offsetMs) })
  const leftMs = Number(decodeJwt(token).exp) * 1000 - Date.now()
  offsetMs = leftMs - 3_000
  await accept(`Bearer ${token}`)
  offsetMs = leftMs + 1_000
  await refuse(`Bearer ${token}`, 'token_invalid')
  offsetMs = -60 * 60_000
  // Another token: one that was verified before is known not to be from the future.
  const fresh = await withToken(t, { now: () => new Date(Date.now() + offsetMs) })
  offsetMs = 0
  const later = await fresh.world.tokens.issue(fresh.vendor.companyId, decodeJwt(fresh.token).cid as never)
  offsetMs = -60 * 60_000
  await fresh.refuse(`Bearer ${later}`, 'token_invalid')
})

test('B18, B19, B20: what we signed for another purpose or another subject opens nothing', async (t) => {
  const { world, token, vendor, refuse, accept } = await withToken(t)
  const keys = await openKeyRing({ pool: world.pool, secretKey: world.secretKey, log: () => {} })
  t.after(() => keys.close())
  const { kid, privateKey } = await keys.signer()
  const good = { ...decodeJwt(token), jti: 'another' }
  const sign = (claims: Record<string, unknown>, header: Record<string, unknown> = {}) =>
    new SignJWT({ ...good, ...claims })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header })
      .sign(privateKey)
  await accept(`Bearer ${await sign({})}`)
  const other = decodeJwt(await (await world.addVendor()).token())
  for (const claims of [
    { aud: undefined },
    { aud: 'https://other.example' },
    { aud: ['https://other.example'] },
    { iss: 'https://other.example' },
    { iss: undefined },
    { sub: 7 },
    { sub: { id: vendor.companyId } },
    { sub: undefined },
    { sub: other.sub },
    { cid: other.cid },
    { cid: undefined },
    { exp: undefined },
    { exp: '9999999999' },
    { iat: undefined },
  ]) {
    await refuse(`Bearer ${await sign(claims)}`, 'token_invalid')
  }
  for (const typ of ['JWT', 'jwt', undefined, 'dpop+jwt']) {
    await refuse(`Bearer ${await sign({}, { typ })}`, 'token_invalid')
  }
  const agent = await world.addAgent(await world.addOrganization())
  await refuse(`Bearer ${agent.agentKey}`, 'token_invalid')
  await refuse(`Bearer ${vendor.clientSecret}`, 'token_invalid')
  await world.ownerPool.query('delete from key_pair where company_id = $1', [vendor.companyId])
  await refuse(`Bearer ${token}`, 'token_invalid')
})

test('B21: a token from before a regeneration or revocation is refused at the next request, on every process', async (t) => {
  const { world, vendor, token, accept, paths } = await withToken(t)
  const other = await world.anotherServer()
  const refuseEverywhere = async (old: string) => {
    for (const on of [world.url, other.url]) {
      for (const path of paths) {
        const headers = { authorization: `Bearer ${old}` }
        assertProblem(await world.request(vendorApiPath + path, { on, headers }), 'token_invalid')
      }
    }
  }
  const by = { companyId: vendor.companyId, memberId: vendor.ownerId }
  await accept(`Bearer ${token}`)
  const pair = await regenerateKeyPair(world.pool, world.secretKey, by)
  await refuseEverywhere(token)
  const fresh = await world.tokens.issue(vendor.companyId, pair.keyPairId)
  await accept(`Bearer ${fresh}`)
  await revokeKeyPair(world.pool, by)
  await refuseEverywhere(fresh)
})

test('B24: after a rotation the old token stays good, and with its key withdrawn it is dead within a second', async (t) => {
  const { world, token, refuse, accept, paths } = await withToken(t)
  await rotateSigningKey(world.pool, world.secretKey)
  await accept(`Bearer ${token}`)
  await withdrawSigningKey(world.pool, world.secretKey, String(decodeProtectedHeader(token).kid))
  const isRefused = async () => (await getWith(world, paths[0] ?? '', `Bearer ${token}`)).status === 401
  await eventually(isRefused, 1_500, 'the withdrawn key ends its tokens')
  await refuse(`Bearer ${token}`, 'token_invalid')
  const { keys } = (await world.request('/.well-known/jwks.json')).body as unknown as { keys: object[] }
  assert.ok(keys.length > 0)
  assert.doesNotMatch(JSON.stringify(keys), /"d":/, 'only public halves')
})

test('B26: an unknown path is a 404 only with a good token; without one it is a 401', async (t) => {
  const { world, location, vendor, token } = await withToken(t)
  for (const path of [
    '/nowhere',
    '/locations/1/nothing',
    `/locations/${location.id}/claims`,
    '/auth',
    '/%61uth',
    '/a%2fb',
  ]) {
    assertProblem(await getWith(world, path, undefined), 'token_required')
    assertProblem(await getWith(world, path, `Bearer ${token}x`), 'token_invalid')
    assertProblem(await vendor.get(path), 'route_unknown')
  }
  const post = (headers: Record<string, string>, path = `${vendorApiPath}/locations`) =>
    world.request(path, { method: 'POST', headers })
  assertProblem(await post({}), 'token_required')
  assertProblem(await post({}, '/api/v1/%76endors/locations'), 'token_required')
  assertProblem(await post({}, '/api/v1/%76endors/nowhere'), 'token_required')
  const known = await post({ authorization: `Bearer ${token}` })
  assertProblem(known, 'method_not_allowed')
  assert.equal(known.headers.get('allow'), 'GET, HEAD')
  await revokeKeyPair(world.pool, { companyId: vendor.companyId, memberId: null })
  assertProblem(await vendor.get('/nowhere'), 'token_invalid')
})

const floodSize = 300 * times

test('B27: a flood of invalid tokens asks nothing of the database', async (t) => {
  const { world, token, paths } = await withToken(t)
  const asked = countStatements(t, world)
  const answers = await Promise.all(
    Array.from({ length: floodSize }, (_, index) =>
      getWith(world, paths[index % 2] ?? '', `Bearer ${token.slice(0, -8)}${String(index).padStart(8, '0')}`),
    ),
  )
  for (const answer of answers) assertProblem(answer, 'token_invalid')
  assert.deepEqual(asked(), [])
  assert.equal((await getWith(world, paths[0] ?? '', `Bearer ${token}`)).status, 200)
})

/** Names of the statements that requests asked since; the key ring's own reading has none. */
function countStatements(t: TestContext, world: TestWorld): () => string[] {
  const query = t.mock.method(world.pool, 'query')
  return () =>
    query.mock.calls.flatMap(({ arguments: [statement] }) => {
      const name = (statement as unknown as { name?: string }).name
      return name === undefined ? [] : [name]
    })
}
