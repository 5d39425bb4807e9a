import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { listMeans } from '../../../modules/recovery/means.ts'
import type { OrganizationId } from '../../../platform/identity/identity.ts'
import { createAuthenticator } from '../testing/test-authenticator.ts'
import { read } from '../testing/test-company.ts'
import { clientId, clientSecret, startIdentityProvider, visit } from '../testing/test-identity-provider.ts'
import { register, signInWith } from '../testing/test-passkey.ts'
import { cookiesOf, type PortalWorld, password, type SignedIn, somePortal } from '../testing/test-portal.ts'
import { setUpTotp } from '../testing/test-second-factor.ts'
import { codeOf } from '../testing/test-totp.ts'

const strangersPassword = 'seven green bottles on a wall'
const newPassword = 'three blind mice run after me'
const strangersAddress = 'stranger@example.com'

test('W27: nothing that a stranger added to an account survives the undo of their e-mail change', async (t) => {
  const { world, person, provider } = await someMember(t)
  const key = createAuthenticator('http://localhost')
  // Before the change, with the stolen password.
  const first = await world.signIn(person)
  assert.equal((await register(first, key)).answer.status, 200)
  const { signed, secret, codes } = await setUpTotp(world, first)
  const undo = await changeAddress(world, person, signed)
  // And since.
  const changed = await signed.post('/auth/change-password', {
    current_password: password,
    new_password: strangersPassword,
  })
  const session = world.asPage(cookiesOf(changed))
  assert.equal((await session.post('/auth/email-change/request', { email: 'next@example.com' })).status, 200)
  const nextAddress = await world.linkSecret('next@example.com')
  await world.postPage('/auth/request-password-reset', { email: strangersAddress })
  const resetLink = await world.linkSecret(strangersAddress)
  const strangers = { email: strangersAddress, password: strangersPassword }
  const challenge = cookiesOf(await world.postPage('/auth/sign-in/email', strangers))
  const withPasskey = world.asPage((await signInWith(world, key)).cookie)
  const throughProvider = world.asPage(cookiesOf(await provider.link(session)))
  const sessions = [first, signed, session, withPasskey, throughProvider]
  assert.equal((await throughProvider.get('/session')).status, 200)
  const held = new Set((await listMeans(world.pool, person.userId)).map(({ means }) => means))
  assert.equal(held.size, 8, 'one of every means')

  assert.equal((await world.postPage('/auth/email-change/undo', { token: undo })).status, 200)

  for (const each of sessions) assert.equal((await each.get('/session')).status, 401)
  for (const email of [person.email, strangersAddress]) {
    for (const each of [password, strangersPassword]) {
      assert.equal((await world.postPage('/auth/sign-in/email', { email, password: each })).status, 401)
    }
  }
  assert.equal((await signInWith(world, key)).answer.body.code, 'passkey_refused')
  assert.equal((await provider.signIn()).body.code, 'identity_not_linked')
  for (const [path, code] of [
    ['verify-totp', codeOf(secret, 30_000)],
    ['verify-backup-code', codes[0] ?? ''],
  ]) {
    const answer = await world.postPage(`/auth/two-factor/${path}`, { code }, { cookie: challenge })
    assert.equal(answer.body.code, 'second_factor_refused')
  }
  const byLink = await world.postPage('/auth/reset-password', { token: resetLink, new_password: strangersPassword })
  assert.equal(byLink.body.code, 'invitation_unknown')
  assert.equal((await world.postPage('/auth/email-change/confirm', { token: nextAddress })).status, 404)
  const left = await listMeans(world.pool, person.userId)
  assert.deepEqual(
    left.map(({ means }) => means),
    ['link'],
    'the link for a new password that the person was just mailed',
  )

  const [, restored] = await world.mailsTo(person.email)
  assert.match(
    restored?.text ?? '',
    /Removed: the password, the authenticator app, the recovery codes, a passkey, and a link to an identity provider\./,
  )
  const { rows: acts } = await world.pool.query(
    `select tenant_id, actor, facts, host(ip) as ip from audit_event where user_id = $1 and action = 'account.email_undo'`,
    [person.userId],
  )
  const actor = `Person <${strangersAddress}>`
  assert.deepEqual(acts, [
    { tenant_id: null, actor, facts: { from: strangersAddress, to: person.email }, ip: '127.0.0.1' },
  ])
  const token = await world.linkSecret(person.email)
  assert.equal((await world.postPage('/auth/reset-password', { token, new_password: newPassword })).status, 200)
  const back = await world.signIn({ email: person.email, password: newPassword })
  const { user } = read<{ user: { two_factor_enabled: boolean; passkeys: number } }>(await back.get('/session'))
  assert.deepEqual([user.two_factor_enabled, user.passkeys], [false, 0])
})

test('W27: the undo leaves what a person had for longer than 7 days, without the recovery codes that a stranger renewed', async (t) => {
  const { world, person } = await someMember(t)
  const [own, strangers] = [createAuthenticator('http://localhost'), createAuthenticator('http://localhost')]
  const first = await world.signIn(person)
  await register(first, own)
  const { signed, secret, codes } = await setUpTotp(world, first)
  await letMeansAge(world, '8 days')
  await register(signed, strangers)
  const renewed = await signed.post('/auth/two-factor/generate-backup-codes', { password })
  const undo = await changeAddress(world, person, signed)

  assert.equal((await world.postPage('/auth/email-change/undo', { token: undo })).status, 200)

  assert.equal((await signInWith(world, own)).answer.status, 200)
  assert.equal((await signInWith(world, strangers)).answer.body.code, 'passkey_refused')
  const token = await world.linkSecret(person.email)
  await world.postPage('/auth/reset-password', { token, new_password: newPassword })
  const given = await world.postPage('/auth/sign-in/email', { email: person.email, password: newPassword })
  assert.equal(given.body.second_factor_required, true, 'the mailbox alone is not enough')
  const cookie = cookiesOf(given)
  for (const code of [codes[0], (renewed.body.recovery_codes as string[])[0]]) {
    const answer = await world.postPage('/auth/two-factor/verify-backup-code', { code }, { cookie })
    assert.deepEqual([answer.status, answer.body.code], [401, 'second_factor_refused'])
  }
  const right = await world.postPage('/auth/two-factor/verify-totp', { code: codeOf(secret, 30_000) }, { cookie })
  assert.equal(right.status, 200)
  const back = world.asPage(cookiesOf(right))
  const again = await back.post('/auth/two-factor/generate-backup-codes', { password: newPassword })
  assert.equal((again.body.recovery_codes as string[]).length, 10)
})

test('W27: an app whose first code a stranger gives late counts since that code, and not since its secret was shown', async (t) => {
  const { world, person } = await someMember(t)
  const first = await world.signIn(person)
  const shown = await first.post('/auth/two-factor/enable', { password })
  await letMeansAge(world, '8 days')
  const secret = new URL(String(shown.body.totp_uri)).searchParams.get('secret') ?? ''
  const verified = await first.post('/auth/two-factor/verify-totp', { code: codeOf(secret, 0) })
  const undo = await changeAddress(world, person, world.asPage(cookiesOf(verified)))

  await world.postPage('/auth/email-change/undo', { token: undo })

  const { rows } = await world.pool.query('select from portal_two_factor')
  assert.equal(rows.length, 0)
})

test('W27: a sign-in and a new passkey that are under way while the account is given back end with it', async (t) => {
  const { world, person } = await someMember(t)
  const stranger = await world.signIn(person)
  const undo = await changeAddress(world, person, stranger)
  const waiting = async (count: number) => {
    for (;;) {
      const { rows } = await world.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      if (rows.length === count) return
    }
  }
  const holder = await world.ownerPool.connect()
  await holder.query('begin')
  await holder.query('select from portal_user where id = $1 for update', [person.userId])

  const undone = world.postPage('/auth/email-change/undo', { token: undo })
  await waiting(1)
  const signIn = world.postPage('/auth/sign-in/email', { email: strangersAddress, password })
  await waiting(2)
  const key = createAuthenticator('http://localhost')
  const added = register(stranger, key)
  await waiting(3)
  await holder.query('rollback')
  holder.release()

  assert.equal((await undone).status, 200)
  for (const { status, body } of [await signIn, (await added).answer]) {
    assert.deepEqual([status, body.code], [401, 'sign_in_required'])
  }
  const left = (await listMeans(world.pool, person.userId)).map(({ means }) => means)
  assert.deepEqual(left, ['link'], 'of the person, for a new password')
})

test('W27: a link for a new password is not mailed to an address that the account has no more', async (t) => {
  const { world, person } = await someMember(t)
  await world.postPage('/auth/request-password-reset', { email: person.email })
  const token = await world.linkSecret(person.email)
  const user = { id: person.userId, email: strangersAddress, name: 'Person' }
  const { emailAndPassword } = world.auth.options

  await emailAndPassword.sendResetPassword({ user, url: '', token } as never)

  assert.deepEqual(await world.mailsTo(strangersAddress), [])
  assert.equal((await world.postPage('/auth/reset-password', { token, new_password: newPassword })).status, 404)
})

test('W28: a new password by a link ends sessions, links and sign-ins under way, and no other means', async (t) => {
  const { world, person, provider } = await someMember(t)
  const key = createAuthenticator('http://localhost')
  const first = await world.signIn(person)
  await register(first, key)
  const { signed, secret, codes } = await setUpTotp(world, first)
  const undo = await changeAddress(world, person, signed)
  assert.equal((await provider.link(signed)).status, 200)
  const elsewhere = world.asPage((await signInWith(world, key)).cookie)
  assert.equal((await elsewhere.post('/auth/email-change/request', { email: 'next@example.com' })).status, 200)
  const challenge = cookiesOf(await world.postPage('/auth/sign-in/email', { email: strangersAddress, password }))
  await world.postPage('/auth/request-password-reset', { email: strangersAddress })

  const reset = { token: await world.linkSecret(strangersAddress), new_password: newPassword }
  assert.equal((await world.postPage('/auth/reset-password', reset)).status, 200)

  assert.equal((await elsewhere.get('/session')).status, 401)
  const code = codeOf(secret, 30_000)
  const late = await world.postPage('/auth/two-factor/verify-totp', { code }, { cookie: challenge })
  assert.equal(late.body.code, 'second_factor_refused', 'the old password began it')
  const held = (await listMeans(world.pool, person.userId)).map(({ means }) => means)
  assert.deepEqual(held, [
    'password',
    'one_time_password',
    'recovery_codes',
    'passkey',
    'provider_identity',
    'undo_link',
  ])
  assert.equal((await signInWith(world, key)).answer.status, 200)
  assert.equal((await provider.signIn()).status, 200)
  const given = await world.postPage('/auth/sign-in/email', { email: strangersAddress, password: newPassword })
  const opened = { code: codes[0] ?? '' }
  const cookie = cookiesOf(given)
  assert.equal((await world.postPage('/auth/two-factor/verify-backup-code', opened, { cookie })).status, 200)
  assert.equal((await world.postPage('/auth/email-change/undo', { token: undo })).status, 200)
})

/** A member of a practice that has an identity provider; `provider` links them there, and signs in through it. */
async function someMember(t: TestContext) {
  const world = await somePortal(t)
  const organizationId = await world.addOrganization()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const person = await world.addPerson()
  await world.joinOrganization(person, organizationId, 'member')
  return { world, person, organizationId, owner, provider: await someProvider(t, world, organizationId, owner) }
}

async function someProvider(t: TestContext, world: PortalWorld, organizationId: OrganizationId, owner: SignedIn) {
  const path = `/tenants/${organizationId}/identity_provider`
  const { redirect_uri: redirectUri } = read<{ redirect_uri: string }>(await owner.get(path))
  const { issuer } = await startIdentityProvider(t, redirectUri, { subject: 'visitor', email: strangersAddress })
  const settings = {
    sign_in_name: 'smile-dental',
    name: 'Practice login',
    issuer,
    client_id: clientId,
    client_secret: clientSecret,
    counts_as_second_factor: false,
    required: false,
  }
  assert.equal((await owner.put(path, settings)).status, 200)
  const through = async (begun: Awaited<ReturnType<SignedIn['post']>>, cookie: string) => {
    const query = await visit(String(begun.body.url), redirectUri)
    const cookies = `${cookie}; ${cookiesOf(begun)}`
    const finish = { tenant_id: String(organizationId), query }
    return await world.postPage('/auth/identity-provider/finish', finish, { cookie: cookies })
  }
  const start = { sign_in_name: 'smile-dental' }
  return {
    link: async (signed: SignedIn) =>
      await through(await signed.post('/auth/identity-provider/start', { ...start, link: true }), signed.cookie),
    signIn: async () => await through(await world.postPage('/auth/identity-provider/start', start), ''),
  }
}

/** Gives the account the stranger's address. Answers the secret of the link that undoes it. */
async function changeAddress(world: PortalWorld, person: { email: string }, signed: SignedIn): Promise<string> {
  assert.equal((await signed.post('/auth/email-change/request', { email: strangersAddress })).status, 200)
  const token = await world.linkSecret(strangersAddress)
  assert.equal((await signed.post('/auth/email-change/confirm', { token })).status, 200)
  return await world.linkSecret(person.email)
}

/** Makes every means that a person has by now so much older. */
async function letMeansAge({ pool }: PortalWorld, age: string): Promise<void> {
  await pool.query(
    'update portal_two_factor set added_at = added_at - $1::interval, codes_made_at = codes_made_at - $1::interval',
    [age],
  )
  await pool.query('update portal_passkey set created_at = created_at - $1::interval', [age])
}
