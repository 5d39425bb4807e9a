import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Answer } from '../../../testing/test-world.ts'
import { createAuthenticator } from '../testing/test-authenticator.ts'
import { read } from '../testing/test-company.ts'
import { register, signInWith } from '../testing/test-passkey.ts'
import { cookiesOf, type PortalWorld, password, somePortal } from '../testing/test-portal.ts'
import { setUpTotp } from '../testing/test-second-factor.ts'
import { codeOf } from '../testing/test-totp.ts'

type Person = {
  id: string
  email: string
  has_second_factor: boolean
  memberships: { side: string; id: string; name: string; role: string }[]
  means: { means: string; name: string | null; added_at: string }[]
}
type Events = { data: { action: string; what: string; actor: string; reason: string | null; ip: string | null }[] }

const newPassword = 'seven green bottles on a wall'

test('an operator finds a person by name or address, and sees what they belong to and can sign in with', async (t) => {
  const { world, person, organizationId, support, companyId } = await someLostFactor(t)
  await world.addPerson('Other')
  for (const search of [person.email.slice(0, 12).toUpperCase(), 'pat ow']) {
    const found = read<{ total: number; data: Person[] }>(
      await support.get(`/operator/people?search=${encodeURIComponent(search)}`),
    )
    assert.deepEqual([found.total, found.data[0]?.email, found.data[0]?.has_second_factor], [1, person.email, true])
  }
  const page = read<Person>(await support.get(`/operator/people/${person.userId}`))
  assert.deepEqual(page.memberships, [
    { side: 'company', id: companyId, role: 'member', name: 'Vendor' },
    { side: 'organization', id: String(organizationId), role: 'owner', name: 'Practice' },
  ])
  assert.deepEqual(
    page.means.map(({ means, name }) => `${means} ${name ?? ''}`.trim()),
    ['password', 'one_time_password', 'recovery_codes', 'passkey My key', 'session', 'session'],
  )
  assert.ok(page.means.every(({ added_at: at }) => Date.now() - Date.parse(at) < 60_000))
  assert.doesNotMatch(JSON.stringify(page), /127\.0\.0\.1|user_agent|secret/)
  for (const id of ['x', '00000000-0000-4000-8000-000000000000']) {
    assertRefused(await support.get(`/operator/people/${id}`), 404, 'person_unknown')
  }
})

test('W29: support resets a lost second factor with a reason: nothing of before signs in, and the mailbox is the way back', async (t) => {
  const { world, person, organizationId, companyId, support, key, secret, codes, sessions } = await someLostFactor(t)
  const path = `/operator/people/${person.userId}/second_factor_reset`
  const challenge = cookiesOf(await world.postPage('/auth/sign-in/email', person))
  await world.postPage('/auth/request-password-reset', { email: person.email })
  const before = await world.linkSecret(person.email)

  const done = await support.post(path, { reason: ' Phone stolen; called back at the practice ' })

  assert.equal(done.text, '{"done":true}', 'no link for support')
  for (const each of sessions) assert.equal((await each.get('/session')).status, 401)
  assert.equal((await world.postPage('/auth/sign-in/email', person)).status, 401, 'a stolen password opens nothing')
  assert.equal((await signInWith(world, key)).answer.body.code, 'passkey_refused')
  for (const [route, code] of [
    ['verify-totp', codeOf(secret, 30_000)],
    ['verify-backup-code', codes[0]],
  ]) {
    const answer = await world.postPage(`/auth/two-factor/${route}`, { code }, { cookie: challenge })
    assert.equal(answer.body.code, 'second_factor_refused')
  }
  const earlier = await world.postPage('/auth/reset-password', { token: before, new_password: newPassword })
  assert.equal(earlier.body.code, 'invitation_unknown')

  const [mail] = await world.mailsTo(person.email)
  assert.match(mail?.subject ?? '', /second factor of your Bridgework account was reset/)
  assert.match(mail?.text ?? '', /Removed: the password, the authenticator app, the recovery codes, and a passkey\./)
  assert.doesNotMatch(mail?.text ?? '', /stolen|sign in through/)
  const token = await world.linkSecret(person.email)
  assert.equal((await world.postPage('/auth/reset-password', { token, new_password: newPassword })).status, 200)
  const back = await world.signIn({ email: person.email, password: newPassword })

  const what =
    `Reset the second factor of “Pat Owner <${person.email}>”. ` +
    'Removed: the password, the authenticator app, the recovery codes, and a passkey'
  const owner = await world.signInAs({ companyId }, 'owner')
  for (const [reader, history] of [
    [support, '/operator/events'],
    [back, `/organizations/${organizationId}/events`],
    [owner, `/companies/${companyId}/events`],
    [back, '/account/events'],
  ] as const) {
    const { data } = read<Events>(await reader.get(history))
    const act = data.find(({ action }) => action === 'operator.second_factor_reset')
    assert.deepEqual(
      [act?.what, act?.actor, act?.reason],
      [what, `Person <${support.person.email}>`, 'Phone stolen; called back at the practice'],
      history,
    )
    if (history === '/account/events') assert.equal(act?.ip, null)
  }
})

test('W29: a reset needs a reason of everyone, a fresh sign-in, an operator, and for an operator an admin who is another one', async (t) => {
  const { world, person, support, sessions } = await someLostFactor(t)
  const admin = await world.signInAs('operator', 'admin')
  const at = (userId: string) => `/operator/people/${userId}/second_factor_reset`
  for (const operator of [support, admin]) {
    for (const body of [{}, { reason: '' }, { reason: ' \n' }]) {
      assertRefused(await operator.post(at(person.userId), body), 422, 'field_invalid')
    }
  }
  const reason = 'Ticket 12'
  assertRefused(await (sessions[0] as typeof support).post(at(support.person.userId), { reason }), 403, 'role_denied')
  const other = await world.signInAs('operator', 'admin')
  await register(other, createAuthenticator('http://localhost'))
  assertRefused(await support.post(at(other.person.userId), { reason }), 403, 'role_denied')
  assertRefused(await other.post(at(other.person.userId), { reason }), 403, 'role_denied')
  assertRefused(await support.post(at(admin.person.userId), { reason }), 403, 'role_denied')
  assertRefused(await other.post(at(admin.person.userId), { reason }), 409, 'second_factor_none')
  await world.letSignInAge(admin.person.userId)
  assertRefused(await admin.post(at(other.person.userId), { reason }), 403, 'fresh_sign_in_required')
  const { rows } = await world.pool.query(`select from audit_event where action = 'operator.second_factor_reset'`)
  assert.equal(rows.length, 0, 'nothing was done')
  await world.letSignInAge(admin.person.userId, -11)
  assert.equal((await admin.post(at(other.person.userId), { reason })).status, 200)
  assert.equal((await other.get('/session')).status, 401)
})

test('a person who signs in through a provider keeps it, and one who has nothing else is told to ask its IT', async (t) => {
  const { world, person, organizationId, support } = await someLostFactor(t)
  const alone = await world.addPerson('Alone')
  await world.joinOrganization(alone, organizationId, 'member')
  await world.pool.query('delete from portal_account where user_id = $1', [alone.userId])
  await linkProvider(world, String(organizationId))

  const refused = await support.post(`/operator/people/${alone.userId}/second_factor_reset`, { reason: 'Lost' })
  assertRefused(refused, 409, 'second_factor_none')
  assert.match(refused.body.errors, /signs in through Practice login: ask the IT of that provider to reset it there/)
  assert.equal(
    (await support.post(`/operator/people/${person.userId}/second_factor_reset`, { reason: 'Lost' })).status,
    200,
  )
  assert.match((await world.mailsTo(person.email))[0]?.text ?? '', /You can sign in through Practice login as before\./)
  const page = read<Person>(await support.get(`/operator/people/${person.userId}`))
  assert.deepEqual(
    page.means.map(({ means }) => means),
    ['provider_identity', 'link'],
  )
})

/** An owner of a practice, who is also a member of a vendor, with an authenticator app and a passkey that they lost; and one in support. */
async function someLostFactor(t: TestContext) {
  const world = await somePortal(t)
  const organizationId = await world.addOrganization()
  const { companyId } = await world.addVendor()
  const person = await world.addPerson('Pat Owner')
  await world.joinOrganization(person, organizationId, 'owner')
  await world.joinCompany(person, companyId, 'member')
  const key = createAuthenticator('http://localhost')
  const first = await world.signIn(person)
  await register(first, key)
  const { signed, secret, codes } = await setUpTotp(world, first)
  const elsewhere = world.asPage((await signInWith(world, key)).cookie)
  const support = await world.signInAs('operator', 'support')
  assert.equal(person.password, password)
  return { world, organizationId, companyId, person, key, secret, codes, sessions: [signed, elsewhere], support }
}

/** A provider of the practice, to which all its members are linked. */
async function linkProvider({ pool }: PortalWorld, tenantId: string): Promise<void> {
  await pool.query(
    `with made as (
       insert into identity_provider (id, tenant_id, sign_in_name, name, issuer, client_id, client_secret,
                                      counts_as_second_factor, is_required)
       values (gen_random_uuid(), $1, 'smile', 'Practice login', 'https://idp.example', 'c', 's', false, false)
       returning id)
     insert into identity_link (membership_id, provider_id, subject)
     select m.id, made.id, m.id::text from made, membership m where m.tenant_id = $1`,
    [tenantId],
  )
}

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text)
}
