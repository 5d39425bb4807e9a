import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { read } from '../testing/test-company.ts'
import { startLyingProvider } from '../testing/test-identity-provider.ts'
import { cookiesOf } from '../testing/test-portal.ts'
import { assertDone, assertRefused, somePractice } from '../testing/test-provider-practice.ts'

test('W20: a person who is signed in at the provider is asked to sign in there again, and to say when that was', async (t) => {
  const practice = await somePractice(t)
  const { world, organizationId, visitor, follow, asked } = practice
  const member = await world.signInAs({ organizationId }, 'admin')
  Object.assign(visitor, { subject: 'mia', email: member.person.email })
  const browser = new Map<string, string>()

  assertDone(await practice.link(member, (url) => follow(url, browser)))
  assert.equal(asked.count, 1)
  const begun = await world.postPage('/auth/identity-provider/start', { sign_in_name: 'smile-dental' })
  const query = await follow(String(begun.body.url), browser)
  assert.equal(asked.count, 2, 'with the session that the browser has there')
  const { prompt, max_age, claims } = Object.fromEntries(new URL(String(begun.body.url)).searchParams)
  assert.deepEqual({ prompt, max_age, claims }, { prompt: 'login', max_age: '600', claims: askForTime })

  const signed = world.asPage(cookiesOf(await practice.finish(cookiesOf(begun), query)))
  assertDone(await invite(practice, signed))
  await world.letSignInAge(member.person.userId)
  assertRefused(await invite(practice, signed), 403, 'fresh_sign_in_required')
})

test('W20: a sign-in through a provider is fresh only if the ID token says that the person has just signed in there', async (t) => {
  const practice = await somePractice(t)
  const { world, organizationId } = practice
  const nowSeconds = () => Math.floor(Date.now() / 1000)
  const claims: { at: () => unknown } = { at: () => undefined }
  const lying = await startLyingProvider(t, {
    // JSON leaves out what is undefined.
    claims: (right) => ({ ...right, auth_time: claims.at() }),
  })
  assertDone(await practice.save({ issuer: lying.issuer }))
  const member = await world.signInAs({ organizationId }, 'admin')
  assertDone(await practice.link(member))
  const signIn = async () => {
    const begun = await world.postPage('/auth/identity-provider/start', { sign_in_name: 'smile-dental' })
    return await practice.finish(cookiesOf(begun), await practice.follow(String(begun.body.url)))
  }
  const tries: [string, () => unknown, 'fresh' | 'not fresh' | 'refused'][] = [
    ['it does not say', () => undefined, 'not fresh'],
    ['now', nowSeconds, 'fresh'],
    ['9 minutes ago', () => nowSeconds() - 9 * 60, 'fresh'],
    ['11 minutes ago', () => nowSeconds() - 11 * 60, 'not fresh'],
    ['in 50 seconds, by a clock that is ahead', () => nowSeconds() + 50, 'fresh'],
    ['in 2 minutes', () => nowSeconds() + 2 * 60, 'not fresh'],
    ['at the end of time', () => 1e300, 'not fresh'],
    ['a text', () => String(nowSeconds()), 'refused'],
    ['null', () => null, 'refused'],
    ['before 1970', () => -1, 'refused'],
  ]
  for (const [when, at, expected] of tries) {
    claims.at = at
    const answer = await signIn()
    if (expected === 'refused') {
      assertRefused(answer, 409, 'identity_provider_failed')
      continue
    }
    assert.equal(answer.status, 200, when)
    const signed = world.asPage(cookiesOf(answer))
    assert.equal((await signed.get(`${practice.path}/members`)).status, 200, 'it is a sign-in all the same')
    const { fresh_until, signed_in_at } = read<{ fresh_until: string; signed_in_at: string }>(
      await signed.get('/session'),
    )
    assert.equal(fresh_until > signed_in_at ? 'fresh' : 'not fresh', expected, when)
    const { status, body } = await invite(practice, signed)
    assert.equal(status === 200 ? 'fresh' : body.code, expected === 'fresh' ? 'fresh' : 'fresh_sign_in_required', when)
  }
  claims.at = () => nowSeconds() - 9 * 60
  const nearlyOld = world.asPage(cookiesOf(await signIn()))
  await world.letSignInAge(member.person.userId, 2)
  assertRefused(await invite(practice, nearlyOld), 403, 'fresh_sign_in_required')
})

test('the owner who tests a provider learns whether its sign-ins are fresh', async (t) => {
  const practice = await somePractice(t)
  const agoSeconds: { now: number | undefined } = { now: undefined }
  const lying = await startLyingProvider(t, {
    claims: ({ iat = 0, ...right }) => ({
      ...right,
      iat,
      ...(agoSeconds.now !== undefined && { auth_time: iat - agoSeconds.now }),
    }),
  })
  assertDone(await practice.save({ issuer: lying.issuer }))
  const isFresh = async () => read<{ tested: { is_fresh: boolean } }>(await practice.test()).tested.is_fresh

  assert.equal(await isFresh(), false)
  agoSeconds.now = 11 * 60
  assert.equal(await isFresh(), false)
  agoSeconds.now = 5
  assert.equal(await isFresh(), true)
})

test('W20: a person at the provider has a name of 1 to 255 ASCII characters without NUL', async (t) => {
  const practice = await somePractice(t)
  const member = await practice.world.signInAs({ organizationId: practice.organizationId }, 'member')
  const named: { sub: unknown } = { sub: '' }
  const lying = await startLyingProvider(t, {
    claims: (right) => ({ ...right, sub: named.sub as string }),
  })
  assertDone(await practice.save({ issuer: lying.issuer }))
  for (const sub of ['', 'a\0b', '\0', 'x'.repeat(256), 'é', '\ud800', 7, null, ['ada'], undefined]) {
    named.sub = sub
    const answer = await practice.link(member)
    assertRefused(answer, 409, 'identity_provider_failed')
    assert.match(answer.body.errors, /does not follow OpenID Connect/)
  }
  const { rows } = await practice.world.pool.query('select from identity_link')
  assert.equal(rows.length, 0)
  named.sub = 'x'.repeat(255)
  assertDone(await practice.link(member))
})

test('W20: an answer of the provider is taken once begun, in the browser that began, and for its own tenant', async (t) => {
  const practice = await somePractice(t)
  const { world, organizationId, visitor, finish } = practice
  const member = await world.signInAs({ organizationId }, 'member')
  Object.assign(visitor, { subject: 'mia', email: member.person.email })
  await practice.link(member)
  const { cookie, query } = await practice.goThrough()

  assertRefused(await finish('', query), 409, 'identity_sign_in_lost')
  const foreign = { tenant_id: String(await world.addOrganization()), query }
  const elsewhere = await world.postPage('/auth/identity-provider/finish', foreign, { cookie })
  assertRefused(elsewhere, 409, 'identity_sign_in_lost')
  assert.equal((await finish(cookie, query)).status, 200)
  const [one, two] = [await practice.goThrough(), await practice.goThrough()]
  assertRefused(await finish(one.cookie, two.query), 409, 'identity_provider_failed')
  const denied = new URLSearchParams(two.query)
  denied.delete('code')
  denied.set('error', 'access_denied')
  assert.match((await finish(two.cookie, denied.toString())).body.errors, /^You cancelled at the identity provider/)
})

test('W20: the cookie of a sign-in works once, after a success and after a failure, also at two processes at once', async (t) => {
  const practice = await somePractice(t)
  const { world, organizationId, finish } = practice
  // It gives an ID token for any code and any number of times.
  const lying = await startLyingProvider(t, {})
  assertDone(await practice.save({ issuer: lying.issuer }))
  const member = await world.signInAs({ organizationId }, 'member')
  assertDone(await practice.link(member))
  const begin = async () => {
    const begun = await world.postPage('/auth/identity-provider/start', { sign_in_name: 'smile-dental' })
    assert.match(begun.headers.getSetCookie().join(), /Max-Age=600; HttpOnly; SameSite=Strict$/)
    return { cookie: cookiesOf(begun), query: await practice.follow(String(begun.body.url)) }
  }

  const first = await begin()
  const { rows } = await world.pool.query<{ seconds: number }>(
    'select extract(epoch from expires_at - created_at)::integer as seconds from portal_verification',
  )
  assert.deepEqual(rows, [{ seconds: 600 }])
  const ended = await finish(first.cookie, first.query)
  assertDone(ended)
  assert.match(ended.headers.getSetCookie().join('\n'), /^bridgework\.identity_sign_in=;.* Max-Age=0;/m)
  assertRefused(await finish(first.cookie, first.query), 409, 'identity_sign_in_lost')
  const failed = await begin()
  assertRefused(await finish(failed.cookie, `${failed.query}x`), 409, 'identity_provider_failed')
  assertRefused(await finish(failed.cookie, failed.query), 409, 'identity_sign_in_lost')
  const other = await world.anotherServer()
  const raced = await begin()
  const answers = await Promise.all(
    [world.url, other.url, world.url, other.url].map((on) => finish(raced.cookie, raced.query, on)),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409])
  const old = await begin()
  await world.pool.query(`update portal_verification set expires_at = now() - interval '1 second'`)
  assertRefused(await finish(old.cookie, old.query), 409, 'identity_sign_in_lost')
})

test('W20: a link and a test are ended in the session that began them, and in no other', async (t) => {
  const practice = await somePractice(t)
  const { world, path, organizationId, visitor, finish, owner } = practice
  const member = await world.signInAs({ organizationId }, 'member')
  const victim = await world.signInAs({ organizationId }, 'member')
  Object.assign(visitor, { subject: 'mia', email: member.person.email })
  const sessions = {
    'of another member': victim.cookie,
    'of the same member': (await world.signIn(member.person)).cookie,
    none: '',
  }
  for (const [whose, cookie] of Object.entries(sessions)) {
    const begun = await practice.beginLink(member)
    const query = await practice.follow(String(begun.body.url))
    const answer = await finish(`${cookie}; ${cookiesOf(begun)}`, query)
    assert.deepEqual([answer.status, answer.body.code], [409, 'identity_sign_in_lost'], whose)
    assert.deepEqual(answer.headers.getSetCookie(), [], whose)
  }
  const { rows } = await world.pool.query('select from identity_link')
  assert.equal(rows.length, 0)
  const test = await owner.post(`${path}/identity_provider/test`)
  const query = await practice.follow(String(test.body.url))
  assertRefused(await finish(`${victim.cookie}; ${cookiesOf(test)}`, query), 409, 'identity_sign_in_lost')
  assert.equal(read<Settings>(await owner.get(`${path}/identity_provider`)).provider.tested_at, null)
})

type Settings = { provider: { tested_at: string | null } }

test('W06, W20: a link is begun with the CSRF token of its session', async (t) => {
  const practice = await somePractice(t)
  const { world, organizationId } = practice
  const member = await world.signInAs({ organizationId }, 'member')
  const other = await world.signInAs({ organizationId }, 'member')
  const body = { sign_in_name: 'smile-dental', link: true }
  const begin = (headers: Record<string, string>) =>
    world.postPage('/auth/identity-provider/start', body, { cookie: member.cookie, ...headers })

  assertRefused(await begin({}), 403, 'csrf_token_invalid')
  assertRefused(await begin({ 'x-csrf-token': await other.csrfToken() }), 403, 'csrf_token_invalid')
  assertDone(await begin({ 'x-csrf-token': await member.csrfToken() }))
  assert.equal((await member.send('GET', '/auth/identity-provider/start')).status, 405)
})

const askForTime = '{"id_token":{"auth_time":{"essential":true}}}'

/** An act that needs a fresh sign-in. */
async function invite({ path }: { path: string }, signed: { post: (path: string, body: object) => ReturnType<Post> }) {
  return await signed.post(`${path}/members`, { email: `${randomUUID()}@example.com`, name: 'Guest', role: 'member' })
}

type Post = Awaited<ReturnType<typeof somePractice>>['owner']['post']
