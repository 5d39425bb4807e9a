import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { read } from '../testing/test-company.ts'
import { clientSecret, startLyingProvider, type Visitor } from '../testing/test-identity-provider.ts'
import { cookiesOf, password } from '../testing/test-portal.ts'
import { assertDone, assertRefused, somePractice } from '../testing/test-provider-practice.ts'
import { setUpTotp } from '../testing/test-second-factor.ts'

type Session = { through_provider: boolean; memberships: { id: string }[] }

test('a member links the practice’s provider once, signs in through it from then on, and gets what a member gets', async (t) => {
  const practice = await somePractice(t)
  const { world, path, organizationId, visitor } = practice
  const member = await world.signInAs({ organizationId }, 'member')
  Object.assign(visitor, { subject: 'mia', email: member.person.email })

  const unlinked = await practice.signIn()
  assertRefused(unlinked, 403, 'identity_not_linked')
  assert.equal((await practice.link(member)).status, 200)
  assert.equal((await member.get('/session')).status, 401, 'the session before has ended')
  const signed = world.asPage(cookiesOf(await practice.signIn()))

  assert.equal((await signed.get(`${path}/members`)).status, 200)
  const session = read<Session>(await signed.get('/session'))
  assert.deepEqual([session.through_provider, session.memberships.length], [true, 1])
  assert.match((await world.mailsTo(member.person.email))[0]?.text ?? '', /identity provider .* can now sign you in/)
  const { rows } = await world.pool.query<{ row: string }>('select to_jsonb(p)::text as row from identity_provider p')
  assert.doesNotMatch(rows[0]?.row ?? '', new RegExp(clientSecret))
  const page = await practice.owner.get(`${path}/identity_provider`)
  assert.doesNotMatch(page.text, /secret/)
  const member2 = await world.signIn(member.person)
  const events = read<{ data: { action: string; what: string }[] }>(await member2.get('/account/events'))
  const done = events.data.map(({ what }) => what)
  assert.ok(done.includes('Signed in through “Practice login”'))
  assert.ok(done.includes('Linked the identity provider “Practice login” for “Practice”'))
})

test('a linked member who changes their e-mail address signs in through the provider as before', async (t) => {
  const practice = await somePractice(t)
  const { world, organizationId, visitor } = practice
  const member = await world.signInAs({ organizationId }, 'member')
  Object.assign(visitor, { subject: 'mia', email: member.person.email })
  assert.equal((await practice.link(member)).status, 200)
  const again = await world.signIn(member.person)
  assertDone(await again.post('/auth/email-change/request', { email: 'mia@new.example' }))
  const token = await world.linkSecret('mia@new.example')
  assertDone(await world.postPage('/auth/email-change/confirm', { token }))

  const signed = world.asPage(cookiesOf(await practice.signIn()))

  assert.equal(read<{ user: { email: string } }>(await signed.get('/session')).user.email, 'mia@new.example')
})

test('W20: a hostile provider that claims another person’s e-mail address begins no session', async (t) => {
  const practice = await somePractice(t)
  const { world, organizationId, visitor } = practice
  const victim = await world.signInAs({ organizationId: await world.addOrganization('Victim’s') }, 'owner')
  const colleague = await world.signInAs({ organizationId }, 'admin')
  for (const person of [victim.person, colleague.person, practice.owner.person]) {
    Object.assign(visitor, { subject: person.userId, email: person.email })
    const answer = await practice.signIn()
    assertRefused(answer, 403, 'identity_not_linked')
    assert.doesNotMatch(answer.headers.getSetCookie().join(), /session_token/)
  }
})

test('W20: a provider that signs in as a linked member gets nothing of their account and of what they do elsewhere', async (t) => {
  const practice = await somePractice(t)
  const { world, path, organizationId, visitor } = practice
  const person = await world.addPerson('Mia')
  const elsewhere = await world.addOrganization('Elsewhere')
  await world.joinOrganization(person, organizationId, 'member')
  await world.joinOrganization(person, elsewhere, 'owner')
  await world.makeOperator(person)
  Object.assign(visitor, { subject: 'mia', email: person.email })
  await practice.link(await world.signIn(person))

  const hostile = world.asPage(cookiesOf(await practice.signIn()))

  assert.equal((await hostile.get(`${path}/members`)).status, 200)
  const session = read<Session>(await hostile.get('/session'))
  assert.deepEqual(
    session.memberships.map(({ id }) => id),
    [String(organizationId)],
  )
  assertRefused(await hostile.get(`/organizations/${elsewhere}`), 404, 'organization_unknown')
  assertRefused(await hostile.get('/operator/overview'), 403, 'role_denied')
  const tries: [string, string, object?][] = [
    ['GET', '/account/sessions'],
    ['GET', '/account/events'],
    ['PATCH', '/account', { name: 'Other' }],
    ['DELETE', '/account/sessions/00000000-0000-4000-8000-000000000000'],
    ['POST', '/auth/change-password', { current_password: password, new_password: 'another horse battery staple' }],
    ['POST', '/auth/two-factor/enable', { password }],
    ['GET', '/auth/passkey/generate-register-options'],
    ['GET', '/auth/passkey/list-user-passkeys'],
    ['POST', '/auth/two-factor/verify-totp', { code: '000000' }],
    ['POST', '/auth/identity-provider/start', { sign_in_name: 'smile-dental', link: true }],
    ['POST', '/invitations/accept', { token: `bwi_${'x'.repeat(43)}` }],
  ]
  for (const [method, route, body] of tries) {
    assertRefused(await hostile.send(method, route, body), 403, 'full_sign_in_required')
  }
})

test('W20: an ID token with another nonce, audience, issuer, time or signature opens nothing, and the error says what is wrong', async (t) => {
  const practice = await somePractice(t)
  const member = await practice.world.signInAs({ organizationId: practice.organizationId }, 'member')
  const now = () => Math.floor(Date.now() / 1000)
  const flaws: [Parameters<typeof startLyingProvider>[1], RegExp | null][] = [
    [{ claims: (right) => ({ ...right, nonce: 'another' }) }, /another sign-in or another application/],
    [{ claims: (right) => ({ ...right, aud: 'another' }) }, /another sign-in or another application/],
    [{ claims: (right) => ({ ...right, iss: 'https://evil.example' }) }, /another sign-in or another application/],
    [{ claims: (right) => ({ ...right, exp: now() - 120 }) }, /clock/],
    [{ claims: (right) => ({ ...right, iat: now() + 600, nbf: now() + 600 }) }, /clock/],
    [{ isForged: true }, /does not follow OpenID Connect/],
    // A minute of difference between the clocks is nothing.
    [{ claims: (right) => ({ ...right, iat: now() - 630, exp: now() - 30, auth_time: now() - 630 }) }, null],
  ]
  for (const [flaw, expected] of flaws) {
    const lying = await startLyingProvider(t, flaw)
    assertDone(await practice.save({ issuer: lying.issuer }))
    const answer = await practice.link(member)
    if (expected === null) {
      assert.equal(answer.status, 200, answer.text)
      continue
    }
    assertRefused(answer, 409, 'identity_provider_failed')
    assert.match(answer.body.errors, expected)
  }
})

test('a provider is required only once it was tested, by an owner who can come back; members then need it, and the owner does not', async (t) => {
  const practice = await somePractice(t)
  const { world, path, organizationId, visitor } = practice
  const member = await world.signInAs({ organizationId }, 'member')
  Object.assign(visitor, { subject: 'olga', email: 'olga@example.com' })

  assertRefused(await practice.save({ required: true }), 409, 'identity_provider_untested')
  const tested = await practice.test()
  assert.deepEqual(read<{ tested: Visitor }>(tested).tested, { ...visitor, is_fresh: true })
  assertRefused(await practice.save({ required: true }), 409, 'second_factor_missing')
  const { signed: owner } = await setUpTotp(world, practice.owner)
  assertDone(await practice.save({ required: true }, owner))

  assertRefused(await member.get(`${path}/members`), 403, 'identity_provider_required')
  assert.equal((await owner.get(`${path}/members`)).status, 200)
  Object.assign(visitor, { subject: 'mia', email: member.person.email })
  const linked = await practice.link(member)
  assert.equal((await world.asPage(cookiesOf(linked)).get(`${path}/members`)).status, 200)
  // An heir without a second factor has no way around the provider, and the way back of an owner is not removed.
  assertRefused(await owner.post('/auth/two-factor/disable', { password }), 409, 'second_factor_kept')
  const { data } = read<{ data: { id: string; email: string }[] }>(await owner.get(`${path}/members`))
  const ids = [member.person.email, practice.owner.person.email].map(
    (email) => data.find((each) => each.email === email)?.id,
  )
  assertDone(await owner.post(`${path}/ownership`, { member_id: ids[0] }))
  const heir = await world.signIn(member.person)
  assertRefused(await heir.get(`${path}/members`), 403, 'identity_provider_required')
  const heirThrough = world.asPage(cookiesOf(await practice.signIn()))
  assertDone(await heirThrough.post(`${path}/ownership`, { member_id: ids[1] }))
  // Another client is another provider: not tested, and the sessions and links of the one before end.
  assertRefused(await practice.save({ required: true, client_id: 'another' }, owner), 409, 'identity_provider_untested')
  assertDone(await practice.save({ client_id: 'another' }, owner))
  assert.equal((await heirThrough.get(`${path}/members`)).status, 404)
  assert.equal((await world.signIn(member.person).then((again) => again.get(`${path}/members`))).status, 200)
  assertDone(await owner.delete(`${path}/identity_provider`))
  assertRefused(await practice.signIn(), 404, 'identity_provider_unknown')
})

test('the provider counts as a second factor only where the owner says so, and a stolen password links nothing', async (t) => {
  const practice = await somePractice(t)
  const { world, path, organizationId, visitor } = practice
  const member = await world.signInAs({ organizationId }, 'member')
  Object.assign(visitor, { subject: 'mia', email: member.person.email })
  await practice.link(member)
  const { signed: owner } = await setUpTotp(world, practice.owner)
  assertDone(await owner.put(`${path}/sign_in_rule`, { second_factor_required: true }))

  const without = world.asPage(cookiesOf(await practice.signIn()))
  assertRefused(await without.get(`${path}/members`), 403, 'second_factor_sign_in_required')
  const thief = await world.signIn(member.person)
  assertRefused(await practice.link(thief), 403, 'second_factor_setup_required')
  await practice.test(owner)
  assertRefused(await practice.save({ required: true }, owner), 409, 'identity_provider_without_factor')
  assertDone(await practice.save({ required: true, counts_as_second_factor: true }, owner))
  const counted = world.asPage(cookiesOf(await practice.signIn()))
  assert.equal((await counted.get(`${path}/members`)).status, 200)
})

test('an invited person joins through the provider without a password, and one who has an account must sign in to it', async (t) => {
  const practice = await somePractice(t)
  const { world, path, visitor, owner } = practice
  const guest = { email: 'guest@example.com', name: 'Guest', role: 'member' }
  const known = await world.addPerson('Known')
  assertDone(await owner.post(`${path}/members`, guest))
  const token = await world.linkSecret(guest.email)
  // The mailed link proves the address; what the provider claims is another one.
  Object.assign(visitor, { subject: 'gus', email: 'gus@smile.example' })

  const joined = await practice.signIn({ invitation: { token, name: 'Gus' } })

  assert.equal(joined.status, 200, joined.text)
  const signed = world.asPage(cookiesOf(joined))
  const members = read<{ data: { email: string; name: string; state: string }[] }>(await signed.get(`${path}/members`))
  const found = members.data.find(({ email }) => email === guest.email)
  assert.deepEqual([found?.name, found?.state], ['Gus', 'active'])
  assert.equal((await practice.signIn()).status, 200)
  const refused = await world.postPage('/auth/sign-in/email', { email: guest.email, password: 'x' })
  assertRefused(refused, 401, 'sign_in_refused')
  assertDone(await owner.post(`${path}/members`, { ...guest, email: known.email }))
  const second = await world.linkSecret(known.email)
  const start = { sign_in_name: 'smile-dental', invitation: { token: second, name: 'X' } }
  assertRefused(await world.postPage('/auth/identity-provider/start', start), 409, 'account_exists')
})

test('settings that cannot work are refused with what is wrong, before anything is stored', async (t) => {
  const practice = await somePractice(t)
  const { world, path, issuer } = practice
  const script = await startLyingProvider(t, { metadata: { authorization_endpoint: 'javascript:alert(1)' } })
  const renamed = await startLyingProvider(t, { metadata: { issuer: 'https://login.example.com' } })
  const tries: [object, string, RegExp][] = [
    [{ issuer: 'http://127.0.0.1:9' }, 'identity_provider_failed', /cannot be reached/],
    [{ issuer: `${issuer}/nothing` }, 'identity_provider_failed', /openid-configuration must be below it/],
    [{ issuer: renamed.issuer }, 'identity_provider_failed', /names another issuer/],
    [{ issuer: script.issuer }, 'identity_provider_failed', /no usable addresses/],
    [{ issuer: 'ftp://x.example' }, 'field_invalid', /must be an address like/],
    [{ issuer: `${issuer}/.well-known/openid-configuration` }, 'field_invalid', /without \/\.well-known/],
    [{ sign_in_name: '-x' }, 'field_invalid', /3 to 40 letters/],
  ]
  for (const [settings, code, words] of tries) {
    const answer = await practice.save(settings)
    assert.deepEqual([answer.body.code, words.test(answer.body.errors)], [code, true], answer.text)
  }
  assertDone(await practice.save({ client_secret: 'a wrong secret' }))
  const member = await world.signInAs({ organizationId: practice.organizationId }, 'member')
  assert.match((await practice.link(member)).body.errors, /refused the client ID or the client secret/)
  const other = await world.signInAs({ organizationId: await world.addOrganization() }, 'owner')
  const session = read<Session>(await other.get('/session'))
  const taken = await other.put(`/tenants/${session.memberships[0]?.id}/identity_provider`, practice.settings)
  assertRefused(taken, 409, 'sign_in_name_taken')
  const admin = await world.signInAs({ organizationId: practice.organizationId }, 'admin')
  assertRefused(await admin.get(`${path}/identity_provider`), 403, 'role_denied')
  const operator = await world.signInAs('operator', 'admin')
  assertRefused(await operator.put('/tenants/operator/identity_provider', practice.settings), 403, 'role_denied')
})

test('a member who was removed is out, also through the provider', async (t) => {
  const practice = await somePractice(t)
  const { world, path, organizationId, visitor, owner } = practice
  const member = await world.signInAs({ organizationId }, 'member')
  Object.assign(visitor, { subject: 'mia', email: member.person.email })
  const signed = world.asPage(cookiesOf(await practice.link(member)))
  const { data } = read<{ data: { id: string; email: string }[] }>(await owner.get(`${path}/members`))
  const id = data.find(({ email }) => email === member.person.email)?.id

  assertDone(await owner.delete(`${path}/members/${id}`))

  assertRefused(await signed.get(`${path}/members`), 404, 'organization_unknown')
  assertRefused(await practice.signIn(), 403, 'identity_not_linked')
})

test('X06: saving a provider whose address answers 101, sends without end or redirects is answered with what is wrong', async (t) => {
  const practice = await somePractice(t)
  const before = (await practice.owner.get(`${practice.path}/identity_provider`)).text
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
  const answers: [string, RegExp][] = [
    [upgrade, /does not follow OpenID Connect/],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', /does not follow OpenID Connect/],
    [`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${' '.repeat(200_000)}`, /larger than 128 KiB/],
    [
      'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n',
      /HTTP status that no identity provider should/,
    ],
  ]
  for (const [head, expected] of answers) {
    const odd = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(head))
    }).listen(0, '127.0.0.1')
    await once(odd, 'listening')
    const saved = await practice.save({ issuer: `http://127.0.0.1:${(odd.address() as AddressInfo).port}` })
    odd.close()
    assertRefused(saved, 409, 'identity_provider_failed')
    assert.match(saved.body.errors, expected, head.slice(0, 30))
  }
  assert.equal((await practice.owner.get(`${practice.path}/identity_provider`)).text, before)
})
