import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { regenerateKeyPair, revokeKeyPair } from '../../../modules/credentials/key-pair.ts'
import { closeCompany, suspendCompany } from '../../../modules/directory/company.ts'
import { someWorld, type TestVendor } from '../../../testing/test-world.ts'
import { assertProblem, postToken } from '../testing/test-answer.ts'

const pairOf = (vendor: TestVendor) => ({ client_id: vendor.clientId, client_secret: vendor.clientSecret })
/** Behind a proxy that the test is, each call may come from an address of its own. */
const behindProxy = { trustedProxies: ['127.0.0.1'] }

test('T01: the right pair gets a token for six hours, which nobody may store, and it works', async (t) => {
  const world = await someWorld(t)
  const vendor = await world.addVendor()

  const answer = await postToken(world, pairOf(vendor))

  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(Object.keys(answer.body), ['token'])
  assert.deepEqual(
    ['set-cookie', 'cache-control', 'content-type'].map((name) => answer.headers.get(name)),
    [null, 'no-store', 'application/json; charset=utf-8'],
  )
  assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  assert.equal(answer.headers.get('ratelimit-policy'), '"token";q=10;w=60')
  assert.match(answer.headers.get('ratelimit') ?? '', /^"token";r=9;t=\d+$/)
  const { iss, aud, sub, cid, iat, exp, jti } = decodeJwt(answer.body.token)
  assert.deepEqual([iss, aud, sub], ['http://localhost', `http://localhost${vendorApiPath}`, vendor.companyId])
  assert.equal(Number(exp) - Number(iat), 21_600)
  assert.ok(cid && jti)
  assert.deepEqual(Object.keys(decodeProtectedHeader(answer.body.token)).sort(), ['alg', 'kid', 'typ'])
  const used = await world.request(`${vendorApiPath}/locations`, {
    headers: { authorization: `Bearer ${answer.body.token}` },
  })
  assert.equal(used.status, 200)
})

test('T02, T03, T04, T05: whatever is wrong with a pair, the answer is the same to the byte, on every process', async (t) => {
  const world = await someWorld(t, behindProxy)
  const other = await world.anotherServer()
  const right = await world.addVendor()
  const revoked = await world.addVendor()
  const suspended = await world.addVendor()
  const closed = await world.addVendor()
  const disagreeing = await world.addVendor()
  const regenerated = await world.addVendor()
  await revokeKeyPair(world.pool, { companyId: revoked.companyId, memberId: null })
  await suspendCompany(world.pool, suspended.companyId)
  await closeCompany(world.pool, closed.companyId)
  await world.ownerPool.query('delete from agreement_acceptance where company_id = $1', [disagreeing.companyId])
  await regenerateKeyPair(world.pool, world.secretKey, {
    companyId: regenerated.companyId,
    memberId: regenerated.ownerId,
  })
  const wrong = {
    'T02 unknown client_id': { client_id: `bwc_${'A'.repeat(43)}`, client_secret: right.clientSecret },
    'T02 client_id that cannot be': { client_id: 'x\u0001y', client_secret: 'x' },
    'T03 wrong secret': { client_id: right.clientId, client_secret: `bws_${'A'.repeat(43)}` },
    'T03 secret of another company': { client_id: right.clientId, client_secret: revoked.clientSecret },
    'T04 revoked': pairOf(revoked),
    'T04 suspended company': pairOf(suspended),
    'T04 closed company': pairOf(closed),
    'T04 agreement never accepted': pairOf(disagreeing),
    'T05 secret from before the regeneration': pairOf(regenerated),
  }
  const seen = new Set<string>()
  let from = 0
  for (const [name, pair] of Object.entries(wrong)) {
    for (const on of [world.url, other.url]) {
      from += 1
      const answer = await postToken(world, pair, { on, from: `10.0.0.${from}` })
      assertProblem(answer, 'credentials_invalid', /^Invalid client credentials$/)
      const headers = [...answer.headers].filter(([header]) => !['x-request-id', 'date'].includes(header))
      seen.add(JSON.stringify([answer.text.replace(answer.body.request_id, ''), headers]))
      assert.equal(seen.size, 1, `${name}: ${[...seen].join('\n')}`)
    }
  }
  assert.equal((await postToken(world, pairOf(right), { from: '10.0.1.1' })).status, 200)
})

test('T06, T07, T08, T10, T11, T13, T15, T18: a body that is no pair is refused with its own status, and nothing is looked up', async (t) => {
  const world = await someWorld(t, behindProxy)
  const vendor = await world.addVendor()
  const pair = pairOf(vendor)
  let from = 0
  const post = (body: unknown, headers: Record<string, string> = {}) => {
    from += 1
    return postToken(world, body, { from: `10.1.0.${from}`, headers })
  }
  for (const body of ['', '{', '{"client_id":', 'client_id=a']) {
    assertProblem(await post(body), 'body_malformed')
  }
  const required = /^client_id and client_secret are required strings$/
  for (const value of [undefined, null, 7, true, ['a'], { a: 'b' }]) {
    assertProblem(await post({ ...pair, client_secret: value }), 'credentials_malformed', required)
    assertProblem(await post({ ...pair, client_id: value }), 'credentials_malformed', required)
  }
  for (const body of ['{}', '[]', '"x"', '1', 'null', JSON.stringify([pair])]) {
    assertProblem(await post(body), 'credentials_malformed', required)
  }
  const text = JSON.stringify(pair)
  for (const name of ['client_id', 'client_secret'] as const) {
    const twice = `${text.slice(0, -1)},"${name}":"${pair[name]}"}`
    assertProblem(await post(twice), 'field_invalid', new RegExp(`^The member ${name} of the body is there twice`))
  }
  for (const body of [
    `{"__proto__":${JSON.stringify(pair)}}`,
    `{"constructor":{"prototype":${JSON.stringify(pair)}}}`,
  ]) {
    assertProblem(await post(body), 'credentials_malformed', required)
    assert.equal(({} as { client_id?: string }).client_id, undefined)
  }
  assertProblem(await post({ ...pair, padding: 'x'.repeat(16 * 1024) }), 'body_too_large')
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json;charset=utf-16']) {
    assertProblem(await post(pair, { 'content-type': type }), 'content_type_unsupported')
  }
  const long = 'x'.repeat(257)
  assertProblem(await post({ ...pair, client_secret: long }), 'credentials_malformed', /^client_secret is too long$/)
  assertProblem(await post({ ...pair, client_id: long }), 'credentials_malformed', /^client_id is too long$/)
  const query = await world.request(`${vendorApiPath}/auth/token?${new URLSearchParams(pair)}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': '10.2.0.1',
      authorization: `Basic ${Buffer.from(`${pair.client_id}:${pair.client_secret}`).toString('base64')}`,
    },
  })
  assertProblem(query, 'body_malformed')
  assert.equal(world.events.filter((event) => event.event === 'token.refused').length, 0, 'no pair was looked up')
  assert.doesNotMatch(JSON.stringify(world.events), new RegExp(vendor.clientSecret))
})

test('T17: the token path answers POST alone, and without a token says so', async (t) => {
  const world = await someWorld(t)
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await world.request(`${vendorApiPath}/auth/token`, {
      method,
      headers: { 'x-http-method-override': 'POST' },
    })
    assertProblem(answer, 'method_not_allowed')
    assert.equal(answer.headers.get('allow'), 'POST')
  }
  const overridden = await world.request(`${vendorApiPath}/auth/token`, {
    method: 'POST',
    headers: { 'x-http-method-override': 'GET', 'content-type': 'application/json' },
    body: '{}',
  })
  assertProblem(overridden, 'credentials_malformed')
})

test('T19, T22: the eleventh request in a minute gets the seconds to wait, whatever its headers say of where it comes from', async (t) => {
  const world = await someWorld(t)
  const vendor = await world.addVendor()
  const claim = (number: number) => ({
    'x-forwarded-for': `1.2.3.${number}`,
    forwarded: `for=1.2.3.${number}`,
    'x-real-ip': `1.2.3.${number}`,
    'true-client-ip': `1.2.3.${number}`,
  })
  for (let number = 1; number <= 10; number += 1) {
    // Half of them are wrong: failures count like successes.
    const pair = number % 2 ? pairOf(vendor) : { client_id: 'x', client_secret: 'x' }
    const answer = await postToken(world, pair, { headers: claim(number) })
    assert.equal(answer.status, number % 2 ? 200 : 401)
    assert.match(answer.headers.get('ratelimit') ?? '', new RegExp(`^"token";r=${10 - number};t=`))
  }
  for (let number = 11; number <= 13; number += 1) {
    const answer = await postToken(world, pairOf(vendor), { headers: claim(number) })
    assertProblem(answer, 'token_requests_exceeded')
    const seconds = Number(answer.headers.get('retry-after'))
    assert.ok(seconds >= 50 && seconds <= 60, String(seconds))
    assert.equal(answer.body.retry_after_seconds, seconds)
    assert.equal(answer.headers.get('ratelimit'), `"token";r=0;t=${seconds}`)
  }
})

test('T26: of 50 parallel requests from one address to two processes exactly ten are answered', async (t) => {
  const world = await someWorld(t)
  const other = await world.anotherServer()
  const vendor = await world.addVendor()

  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      postToken(world, pairOf(vendor), { on: index % 2 ? world.url : other.url }),
    ),
  )

  assert.equal(answers.filter(({ status }) => status === 200).length, 10)
  for (const answer of answers.filter(({ status }) => status !== 200)) assertProblem(answer, 'token_requests_exceeded')
})

test('T28: while token requests cannot be counted none is answered, and afterwards they are again', async (t) => {
  const world = await someWorld(t)
  const vendor = await world.addVendor()
  await world.ownerPool.query('alter table token_attempt rename to token_attempt_away')
  assertProblem(await postToken(world, pairOf(vendor)), 'unavailable')
  await world.ownerPool.query('alter table token_attempt_away rename to token_attempt')
  assert.equal((await postToken(world, pairOf(vendor))).status, 200)
})

test('T29: a company is not locked out by strangers who guess at its client_id', async (t) => {
  const world = await someWorld(t, behindProxy)
  const vendor = await world.addVendor()
  for (let number = 0; number < 30; number += 1) {
    const guess = { client_id: vendor.clientId, client_secret: `guess ${number}` }
    await postToken(world, guess, { from: `10.3.0.${number % 3}` })
  }
  assert.equal((await postToken(world, pairOf(vendor), { from: '10.4.0.1' })).status, 200)
})

test('T30: neither a token nor a secret is in any log event or metric', async (t) => {
  const world = await someWorld(t)
  const vendor = await world.addVendor()
  const { token } = (await postToken(world, pairOf(vendor))).body
  await postToken(world, { client_id: vendor.clientId, client_secret: 'bws_wrong' })
  await world.request(`${vendorApiPath}/locations`, { headers: { authorization: `Bearer ${token}` } })
  const written = JSON.stringify(world.events) + (await world.request('/metrics')).text
  for (const secret of [token, token.split('.')[2] ?? '', vendor.clientSecret, vendor.clientId, 'bws_wrong']) {
    assert.ok(secret.length > 5)
    assert.equal(written.includes(secret), false)
  }
})
