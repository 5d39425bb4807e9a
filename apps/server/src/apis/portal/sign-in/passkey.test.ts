import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portalApiPath } from '@bridgework/contract/portal'
import { createAuthenticator, type Flaw } from '../testing/test-authenticator.ts'
import { register, signInWith } from '../testing/test-passkey.ts'
import { cookiesOf, type PortalWorld, somePortal } from '../testing/test-portal.ts'

test('a person adds a passkey, signs in with it instead of a password, and removes it', async (t) => {
  const world = await somePortal(t)
  const { person, signed, key, passkey } = await someoneWithPasskey(world)
  const { cookie, answer } = await signInWith(world, key)

  assert.deepEqual([answer.status, answer.text], [200, '{"done":true}'])
  const session = await world.asPage(cookie).get('/session')
  assert.equal((session.body as unknown as { user: { email: string; passkeys: number } }).user.email, person.email)
  assert.deepEqual((await signed.get('/auth/passkey/list-user-passkeys')).body.data, [passkey])
  assert.equal((await signed.post('/auth/passkey/delete-passkey', { id: passkey.id })).status, 200)
  assert.equal((await signInWith(world, key)).answer.body.code, 'passkey_refused')
  assert.match((await world.mailsTo(person.email))[0]?.text ?? '', /A passkey was removed/)
})

test('W17: a passkey that was used on another page or for another site, or whose counter goes back, opens nothing', async (t) => {
  const world = await somePortal(t)
  const { key } = await someoneWithPasskey(world)
  await signInWith(world, key, { counter: 10 })
  const flaws: Flaw[] = [
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { counter: 10 },
    { counter: 9 },
    { counter: 12, isUserVerified: false },
  ]
  for (const flaw of flaws) {
    const { answer } = await signInWith(world, key, flaw)
    assert.deepEqual([answer.status, answer.body.code], [401, 'passkey_refused'], JSON.stringify(flaw))
    assert.doesNotMatch(answer.headers.getSetCookie().join(), /session_token=[^;]/)
  }
  assert.equal((await signInWith(world, key, { counter: 11 })).answer.status, 200)
})

test('W17: a challenge counts once, and only in the browser that asked for it', async (t) => {
  const world = await somePortal(t)
  const { key } = await someoneWithPasskey(world)
  const options = await world.request(`${portalApiPath}/auth/passkey/generate-authenticate-options`)
  const response = key.signIn(options.body as never)
  const send = (cookie: string) => world.postPage('/auth/passkey/verify-authentication', { response }, { cookie })

  assert.equal((await send('')).body.code, 'passkey_refused')
  assert.equal((await send(cookiesOf(options))).status, 200)
  assert.equal((await send(cookiesOf(options))).body.code, 'passkey_refused')
})

test('a passkey is not added for another page, another site or without its person', async (t) => {
  const world = await somePortal(t)
  const signed = await world.signIn(await world.addPerson())
  for (const flaw of [{ origin: 'https://evil.example' }, { rpId: 'evil.example' }, { isUserVerified: false }]) {
    const { answer } = await register(signed, createAuthenticator('http://localhost'), flaw)
    assert.deepEqual([answer.status, answer.body.code], [401, 'passkey_refused'], JSON.stringify(flaw))
  }
  const { rows } = await world.pool.query('select from portal_passkey')
  assert.equal(rows.length, 0)
})

test('passkeys are added and removed with a fresh sign-in alone, and nobody removes another one’s', async (t) => {
  const world = await somePortal(t)
  const { person, signed, passkey } = await someoneWithPasskey(world)
  const stranger = await world.signIn(await world.addPerson())
  assert.equal((await stranger.post('/auth/passkey/delete-passkey', { id: passkey.id })).body.code, 'not_found')
  await world.letSignInAge(person.userId)
  for (const answer of [
    await signed.get('/auth/passkey/generate-register-options'),
    await signed.post('/auth/passkey/delete-passkey', { id: passkey.id }),
  ]) {
    assert.deepEqual([answer.status, answer.body.code], [403, 'fresh_sign_in_required'])
  }
  assert.equal((await world.pool.query('select from portal_passkey')).rows.length, 1)
})

test('W14: a stranger who fails on purpose shuts the password of an account, never its passkey', async (t) => {
  const world = await somePortal(t, { trustedProxies: ['127.0.0.1'] })
  const { person, key } = await someoneWithPasskey(world)
  const tryPassword = (index: number, password: string) =>
    world.postPage(
      '/auth/sign-in/email',
      { email: person.email, password },
      { 'x-forwarded-for': `203.0.${Math.floor(index / 20)}.${index % 200}` },
    )
  // One from each of a hundred addresses, as a stranger with a botnet would: 98 of the tries are put down a minute ago.
  await tryPassword(0, 'a wrong password altogether')
  await world.pool.query(
    `update sign_in_attempt set attempted_at = array_fill(clock_timestamp() - interval '1 minute', array[98]) || attempted_at
      where forget_at > clock_timestamp() + interval '50 minutes'`,
  )
  const hundredth = await tryPassword(1, 'a wrong password altogether')
  assert.equal(hundredth.body.code, 'sign_in_refused')
  const refused = await tryPassword(999, person.password)
  assert.deepEqual([refused.status, refused.body.code], [429, 'sign_in_throttled'])
  assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
  assert.equal((await signInWith(world, key)).answer.status, 200)
})

async function someoneWithPasskey(world: PortalWorld) {
  const person = await world.addPerson()
  const signed = await world.signIn(person)
  const key = createAuthenticator('http://localhost')
  const { answer } = await register(signed, key)
  assert.equal(answer.status, 200, answer.text)
  return { person, signed, key, passkey: answer.body as unknown as { id: string; name: string; created_at: string } }
}
