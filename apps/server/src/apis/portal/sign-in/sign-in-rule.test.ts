import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portalApiPath } from '@bridgework/contract/portal'
import type { Answer } from '../../../testing/test-world.ts'
import { createAuthenticator } from '../testing/test-authenticator.ts'
import { read } from '../testing/test-company.ts'
import { cookiesOf, type PortalWorld, password, type SignedIn, somePortal } from '../testing/test-portal.ts'
import { setUpTotp } from '../testing/test-second-factor.ts'
import { codeOf } from '../testing/test-totp.ts'

test('an owner requires a second factor: from the next sign-in on, a member without one can only set one up, and then goes on', async (t) => {
  const { world, path, owner, organizationId } = await somePractice(t)
  const member = await world.signInAs({ organizationId }, 'member')

  assertDone(await owner.put(`${path}/sign_in_rule`, { second_factor_required: true }))

  assert.match((await world.mailsTo(member.person.email))[0]?.subject ?? '', /requires a second factor/)
  assert.equal((await member.get(`${path}/members`)).status, 200)
  assert.equal(await owedBy(member), 'next_sign_in')
  const later = await world.signIn(member.person)
  for (const page of [`${path}/members`, `${path}/sign_in_rule`, `/organizations/${organizationId}`]) {
    assertRefused(await later.get(page), 403, 'second_factor_setup_required')
  }
  assert.equal(await owedBy(later), 'set_up')
  await addPasskey(later)
  assert.equal((await later.get(`${path}/members`)).status, 200)
  const another = await world.signInAs({ organizationId }, 'member')
  assertRefused(await another.get(`${path}/members`), 403, 'second_factor_setup_required')
  const { signed } = await setUpTotp(world, another)
  assert.equal((await signed.get(`${path}/members`)).status, 200)
  for (const page of [later, signed]) assert.equal(await owedBy(page), null)
})

test('W26: a password alone opens nothing where a second factor is required, though the account has a passkey, and adds no factor', async (t) => {
  const { world, path, owner, organizationId } = await somePractice(t)
  const member = await world.signInAs({ organizationId }, 'member')
  const key = await addPasskey(member)
  assertDone(await owner.put(`${path}/sign_in_rule`, { second_factor_required: true }))

  const thief = await world.signIn(member.person)

  assertRefused(await thief.get(`${path}/members`), 403, 'second_factor_sign_in_required')
  assert.equal(await owedBy(thief), 'sign_in')
  assertRefused(await thief.post('/auth/two-factor/enable', { password }), 403, 'second_factor_sign_in_required')
  const another = await thief.get('/auth/passkey/generate-register-options')
  const response = createAuthenticator('http://localhost').register(another.body as never)
  const headers = { cookie: `${thief.cookie}; ${cookiesOf(another)}` }
  const added = await thief.send('POST', '/auth/passkey/verify-registration', { name: 'Key', response }, headers)
  assertRefused(added, 403, 'second_factor_sign_in_required')

  const options = await world.request(`${portalApiPath}/auth/passkey/generate-authenticate-options`)
  const proof = { response: key.signIn(options.body as never) }
  const withKey = await world.postPage('/auth/passkey/verify-authentication', proof, { cookie: cookiesOf(options) })
  const signed = world.asPage(cookiesOf(withKey))
  assert.equal((await signed.get(`${path}/members`)).status, 200)
})

test('the last second factor stays while a company or practice of the person requires one, and goes when none does any more', async (t) => {
  const { world, path, owner } = await somePractice(t)
  const { companyId } = await world.addVendor()
  await world.joinCompany(owner.person, companyId, 'owner')
  assertDone(await owner.put(`/tenants/${companyId}/sign_in_rule`, { second_factor_required: true }))

  const refused = await owner.post('/auth/two-factor/disable', { password })

  assertRefused(refused, 409, 'second_factor_kept')
  assert.match(refused.body.errors, /^This is your last second factor, and Vendor \S* ?requires one/)
  await addPasskey(owner)
  const { data: passkeys } = read<{ data: { id: string }[] }>(await owner.get('/auth/passkey/list-user-passkeys'))
  const appOff = await owner.post('/auth/two-factor/disable', { password })
  assertDone(appOff)
  const signed = world.asPage(cookiesOf(appOff))
  const removal = { id: passkeys[0]?.id ?? '' }
  assertRefused(await signed.post('/auth/passkey/delete-passkey', removal), 409, 'second_factor_kept')
  assertDone(await signed.put(`/tenants/${companyId}/sign_in_rule`, { second_factor_required: false }))
  assertDone(await signed.post('/auth/passkey/delete-passkey', removal))
  assertRefused(
    await signed.put(`${path}/sign_in_rule`, { second_factor_required: true }),
    409,
    'second_factor_missing',
  )
})

test('a rule is the owner’s alone, counts for its own members alone, is in the invitation, and its changes are on record once', async (t) => {
  const { world, path, owner, organizationId } = await somePractice(t)
  const admin = await world.signInAs({ organizationId }, 'admin')
  const elsewhere = await world.signInAs({ organizationId: await world.addOrganization() }, 'owner')
  const operator = await world.signInAs('operator', 'admin')
  const on = { second_factor_required: true }

  assertRefused(await admin.put(`${path}/sign_in_rule`, on), 403, 'role_denied')
  assertRefused(await operator.put(`${path}/sign_in_rule`, on), 404, 'organization_unknown')
  await world.letSignInAge(owner.person.userId)
  assertRefused(await owner.put(`${path}/sign_in_rule`, on), 403, 'fresh_sign_in_required')
  await world.letSignInAge(owner.person.userId, -11)
  assertDone(await owner.put(`${path}/sign_in_rule`, on))
  assertDone(await owner.put(`${path}/sign_in_rule`, on))

  const { second_factor_since: since } = read<{ second_factor_since: string }>(await admin.get(`${path}/sign_in_rule`))
  assert.ok(Date.parse(since) <= Date.now())
  assert.equal(await owedBy(elsewhere), null)
  const { data } = read<{ data: { id: string; second_factor_required: boolean }[] }>(
    await operator.get('/operator/organizations'),
  )
  assert.deepEqual(
    data.filter((each) => each.second_factor_required).map(({ id }) => id),
    [String(organizationId)],
  )
  const guest = { email: 'guest@example.com', name: 'Guest', role: 'member' }
  assertDone(await owner.post(`${path}/members`, guest))
  assert.match((await world.mailsTo(guest.email))[0]?.text ?? '', /A second factor is required there/)
  const token = await world.linkSecret(guest.email)
  const invitation = await world.postPage('/invitations/find', { token })
  assert.equal((invitation.body as Record<string, unknown>).second_factor_required, true)
  const events = read<{ data: { action: string; what: string }[] }>(
    await owner.get(`/organizations/${organizationId}/events`),
  )
  assert.deepEqual(
    events.data.filter(({ action }) => action === 'sign_in_rule.change').map(({ what }) => what),
    ['Required a second factor of all members'],
  )
})

test('a new password keeps what the sign-in proved, and no more', async (t) => {
  const { world, path, owner, organizationId } = await somePractice(t)
  const member = await world.signInAs({ organizationId }, 'member')
  assertDone(await owner.put(`${path}/sign_in_rule`, { second_factor_required: true }))
  const change = { current_password: password, new_password: 'another horse battery staple' }

  const changed = await owner.post('/auth/change-password', change)
  const ofMember = await member.post('/auth/change-password', change)

  assert.equal((await world.asPage(cookiesOf(changed)).get(`${path}/members`)).status, 200)
  const refused = await world.asPage(cookiesOf(ofMember)).get(`${path}/members`)
  assertRefused(refused, 403, 'second_factor_setup_required')
})

test('a code or a recovery code at the sign-in is a second factor', async (t) => {
  const { world, path, owner } = await somePractice(t)
  assertDone(await owner.put(`${path}/sign_in_rule`, { second_factor_required: true }))
  const steps = [
    ['/auth/two-factor/verify-totp', codeOf(owner.secret, 30_000)],
    ['/auth/two-factor/verify-backup-code', owner.codes[0] ?? ''],
  ] as const
  for (const [route, code] of steps) {
    const begun = await world.postPage('/auth/sign-in/email', owner.person)
    const signed = await world.postPage(route, { code }, { cookie: cookiesOf(begun) })
    assert.equal((await world.asPage(cookiesOf(signed)).get(`${path}/members`)).status, 200, route)
  }
})

/** A practice whose owner has an authenticator app, and signed in with it. */
async function somePractice(t: Parameters<typeof somePortal>[0]) {
  const world = await somePortal(t)
  const organizationId = await world.addOrganization()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const { signed, secret, codes } = await setUpTotp(world, owner)
  return {
    world,
    organizationId,
    path: `/tenants/${organizationId}`,
    owner: { ...signed, person: owner.person, secret, codes },
  }
}

async function addPasskey(signed: SignedIn) {
  const key = createAuthenticator('http://localhost')
  const options = await signed.get('/auth/passkey/generate-register-options')
  const response = key.register(options.body as never)
  const headers = { cookie: `${signed.cookie}; ${cookiesOf(options)}` }
  const added = await signed.send('POST', '/auth/passkey/verify-registration', { name: 'Laptop', response }, headers)
  assert.equal(added.status, 200, added.text)
  return key
}

async function owedBy(signed: SignedIn): Promise<string | null> {
  const session = read<{ memberships: { second_factor: string | null }[] }>(await signed.get('/session'))
  return session.memberships[0]?.second_factor ?? null
}

function assertDone(answer: Awaited<ReturnType<PortalWorld['postPage']>>): void {
  assert.equal(answer.status, 200, answer.text)
}

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text)
}
