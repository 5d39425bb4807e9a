import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { requireInstallation } from '../../../modules/credentials/installation.ts'
import { createMailDelivery } from '../../../modules/mail/delivery.ts'
import { createSmtp } from '../../../modules/mail/smtp.ts'
import { startSmtpServer } from '../../../modules/mail/testing/test-smtp-server.ts'
import { addMember } from '../../../modules/membership/member.ts'
import { listRemaining } from '../../../modules/secret-key/stored.ts'
import { inviteMember } from '../../../modules/sign-in/invitation.ts'
import { read } from '../testing/test-company.ts'
import { password, type SignedIn, somePortal } from '../testing/test-portal.ts'

const newPassword = 'seven green bottles on a wall'

test('a person changes their address by the link that the new address gets, and the old one signs in until then', async (t) => {
  const { world, person, signed, ask, confirm } = await somePerson(t)
  const { companyId } = await world.addVendor()
  await world.joinCompany(person, companyId, 'owner')
  const elsewhere = await world.signIn(person)
  const email = await ask('New.Address@Example.com')
  assert.equal(email, 'new.address@example.com')
  const token = await world.linkSecret(email)
  await world.signIn(person)

  assert.equal((await confirm(token, signed)).status, 200)

  assert.equal((await confirm(token)).body.code, 'invitation_unknown', 'a link works once')
  assert.equal((await elsewhere.get('/session')).status, 401, 'other sessions end')
  const session = read<{ user: { email: string } }>(await signed.get('/session'))
  assert.equal(session.user.email, email)
  assert.equal((await world.postPage('/auth/sign-in/email', person)).status, 401)
  const owner = await world.signIn({ email, password })
  const members = read<{ data: { email: string }[] }>(await owner.get(`/tenants/${companyId}/members`))
  assert.ok(members.data.some((each) => each.email === email))
  const events = read<{ data: { what: string }[] }>(await owner.get('/account/events'))
  const sentence = `Changed the e-mail address from “${person.email}” to “${email}”`
  assert.ok(events.data.some(({ what }) => what === sentence))
})

test('the old address gets a notice whose link restores it, for 7 days, and ends sessions and password', async (t) => {
  const { world, person, ask, confirm, undo } = await somePerson(t)
  const smtp = await startSmtpServer(t)
  const { send, close } = createSmtp(smtp.url, 'Bridgework <portal@example.com>')
  t.after(close)
  const email = await ask()
  await confirm(await world.linkSecret(email))
  const token = await world.linkSecret(person.email)
  const thief = await world.signIn({ email, password })
  await createMailDelivery({ pool: world.pool, send, log: () => {} }).deliverDue()
  assert.deepEqual(smtp.mails.map(({ to }) => to[0]).toSorted(), [email, person.email].toSorted())
  const notice = smtp.mails.find(({ to }) => to[0] === person.email)?.text.replaceAll(/=\r?\n/g, '') ?? ''
  assert.match(notice, /was changed/)
  assert.match(notice, /email-change\?undo=(3D)?true#/)

  const shift = (days: number) =>
    world.pool.query(
      `update portal_verification set created_at = created_at - $1 * interval '1 day', expires_at = expires_at - $1 * interval '1 day'`,
      [days],
    )
  await shift(7.01)
  assert.equal((await undo(token)).body.code, 'invitation_unknown')
  await shift(-0.02)
  assert.equal((await undo(token)).status, 200)

  assert.equal((await thief.get('/session')).status, 401)
  for (const address of [email, person.email]) {
    assert.equal((await world.postPage('/auth/sign-in/email', { email: address, password })).status, 401)
  }
  const [mail] = await world.mailsTo(person.email)
  assert.equal(mail?.subject, 'Choose a new password for Bridgework')
  const reset = { token: await world.linkSecret(person.email), new_password: newPassword }
  assert.equal((await world.postPage('/auth/reset-password', reset)).status, 200)
  const back = await world.signIn({ email: person.email, password: newPassword })
  const events = read<{ data: { what: string }[] }>(await back.get('/account/events'))
  assert.ok(events.data.some(({ what }) => /^Undid a change .* from \S+ back to \S+$/.test(what)))
  assert.equal((await undo(token)).body.code, 'invitation_unknown')
})

test('a thief who changes the address twice cannot keep the account: the first undo link ends the later ones', async (t) => {
  const { world, person, signed, ask, confirm, undo } = await somePerson(t)
  const second = await ask()
  await confirm(await world.linkSecret(second), signed)
  const ownUndo = await world.linkSecret(person.email)
  const third = await ask()
  await confirm(await world.linkSecret(third), signed)
  const thiefsUndo = await world.linkSecret(second)
  const changed = { current_password: password, new_password: newPassword }
  assert.equal((await signed.post('/auth/change-password', changed)).status, 200)

  await world.pool.query(
    `insert into portal_passkey (id, user_id, name, public_key, credential_id, counter, device_type, backed_up, created_at)
     select gen_random_uuid(), $1, name, 'key', name, 0, 'singleDevice', false, now() + added::interval
       from (values ('own', '-8 days'), ('thief''s', '0 days')) as each (name, added)`,
    [person.userId],
  )

  assert.equal((await undo(ownUndo)).status, 200)

  const passkeys = await world.pool.query('select name from portal_passkey where user_id = $1', [person.userId])
  assert.deepEqual(passkeys.rows, [{ name: 'own' }])

  assert.equal((await undo(thiefsUndo)).body.code, 'invitation_unknown')
  const { rows } = await world.pool.query('select email from portal_user where id = $1', [person.userId])
  assert.equal(rows[0]?.email, person.email)
})

test('a link of a change ends after an hour, when a new one is asked for, and when the password changes', async (t) => {
  const { world, person, signed, ask, confirm } = await somePerson(t)
  const first = await world.linkSecret(await ask())
  const second = await world.linkSecret(await ask())
  assert.equal((await confirm(first)).body.code, 'invitation_unknown', 'replaced')
  await world.pool.query(`update portal_verification set expires_at = now() - interval '1 second'`)
  assert.equal((await confirm(second)).body.code, 'invitation_unknown', 'too old')

  const third = await world.linkSecret(await ask())
  const changed = { current_password: password, new_password: newPassword }
  const answer = await signed.post('/auth/change-password', changed)
  assert.equal(answer.status, 200)
  assert.equal((await confirm(third)).body.code, 'invitation_unknown', 'the password changed')

  const again = await world.signIn({ email: person.email, password: newPassword })
  const fourth = await world.linkSecret(await ask(undefined, again))
  await world.postPage('/auth/request-password-reset', { email: person.email })
  const reset = { token: await world.linkSecret(person.email), new_password: 'three blind mice run after me' }
  assert.equal((await world.postPage('/auth/reset-password', reset)).status, 200)
  assert.equal((await confirm(fourth)).body.code, 'invitation_unknown', 'the password was reset')
})

test('a link for a new password that waits in the old mailbox ends with the change', async (t) => {
  const { world, person, ask, confirm } = await somePerson(t)
  await world.postPage('/auth/request-password-reset', { email: person.email })
  const token = await world.linkSecret(person.email)
  const email = await ask()
  await confirm(await world.linkSecret(email))
  const answer = await world.postPage('/auth/reset-password', { token, new_password: newPassword })
  assert.equal(answer.body.code, 'invitation_unknown')
})

test('W15: asking for the address of another account is answered the same, and the mail alone says so', async (t) => {
  const { world, signed, ask } = await somePerson(t)
  const other = await world.addPerson()
  const [known, unknown] = [
    await signed.post('/auth/email-change/request', { email: other.email.toUpperCase() }),
    await signed.post('/auth/email-change/request', { email: 'free@example.com' }),
  ]
  assert.deepEqual([known.status, known.text], [200, '{"done":true}'])
  assert.deepEqual([unknown.status, unknown.text], [known.status, known.text])
  const [mail] = await world.mailsTo(other.email)
  assert.equal(mail?.subject, 'You already have a Bridgework account')
  assert.doesNotMatch(mail?.text ?? '', /#/)

  const email = await ask()
  const token = await world.linkSecret(email)
  await world.pool.query('update portal_user set email = $2 where id = $1', [other.userId, email])
  const late = await world.postPage('/auth/email-change/confirm', { token })
  assert.deepEqual([late.status, late.body.code], [409, 'account_exists'])
})

test('a request needs a fresh sign-in of the person, another address that can be one, and is limited', async (t) => {
  const { world, person, signed } = await somePerson(t)
  const request = (email: string) => signed.post('/auth/email-change/request', { email })
  assert.equal((await world.postPage('/auth/email-change/request', { email: 'a@example.com' })).status, 401)
  assert.equal((await request('no address')).body.code, 'field_invalid')
  assert.match((await request(person.email.toUpperCase())).body.errors, /your address already/)
  for (const each of [1, 2, 3]) assert.equal((await request(`a${each}@example.com`)).status, 200)
  assert.equal((await request('a4@example.com')).body.code, 'sign_in_throttled')
  await world.letSignInAge(person.userId)
  assert.equal((await request('a5@example.com')).body.code, 'fresh_sign_in_required')
})

test('an invitation to the old address is accepted after the change, and one to the new address stops it', async (t) => {
  const { world, person, ask, confirm } = await somePerson(t)
  const invite = async (companyId: Awaited<ReturnType<typeof world.addVendor>>['companyId'], email: string) => {
    const tenant = { side: 'company', id: companyId } as const
    const member = await addMember(world.pool, tenant, { email, name: 'Person', role: 'member' })
    return (await inviteMember(world.pool, { ...world, publicUrl: 'http://localhost' }, member, 'Olga')).link
  }
  const [one, own] = [await world.addVendor(), await world.addVendor()]
  const link = await invite(one.companyId, person.email)
  const email = await ask()
  const change = await world.linkSecret(email)
  await world.joinCompany(person, own.companyId, 'owner')
  await invite(own.companyId, email)
  assert.equal((await confirm(change)).body.code, 'member_exists')
  await world.pool.query(`delete from invitation where member_id in (select id from membership where email = $1)`, [
    email,
  ])
  await world.pool.query('update membership set removed_at = now() where email = $1', [email])

  assert.equal((await confirm(change)).status, 200)

  const signed = await world.signIn({ email, password })
  const token = link.split('#')[1] ?? ''
  assert.equal((await signed.post('/invitations/accept', { token })).status, 200)
})

test('F27: the link that restores an address does not hold up a rotation of the secret key', async (t) => {
  const { world, person, ask, confirm } = await somePerson(t)
  const rows = async () => {
    const remaining = await listRemaining(world.pool, world.secretKey)
    return remaining.find(({ what }) => what.startsWith('sign-ins'))?.rows ?? 0
  }
  await requireInstallation(world.pool, world.secretKey)
  await world.pool.query('update installation set secret_key_settled_at = null')
  await world.postPage('/auth/request-password-reset', { email: person.email })
  assert.equal(await rows(), 1, 'the link for a new password')
  const email = await ask()
  await confirm(await world.linkSecret(email))
  assert.equal(await rows(), 0, 'the link that undoes the change')
})

/** A person who is signed in. `ask`: for a new address; answers it as it is stored. */
async function somePerson(t: TestContext) {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const signed = await world.signIn(person)
  const ask = async (email = `${randomUUID()}@example.com`, by: Pick<SignedIn, 'post'> = signed) => {
    const answer = await by.post('/auth/email-change/request', { email })
    assert.equal(answer.status, 200, answer.text)
    return email.toLowerCase()
  }
  const confirm = (token: string, by?: Pick<SignedIn, 'post'>) =>
    by ? by.post('/auth/email-change/confirm', { token }) : world.postPage('/auth/email-change/confirm', { token })
  const undo = (token: string) => world.postPage('/auth/email-change/undo', { token })
  return { world, person, signed, ask, confirm, undo }
}
