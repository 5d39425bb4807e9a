import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { addMember } from '../../../modules/membership/member.ts'
import { inviteMember } from '../../../modules/sign-in/invitation.ts'
import { type PortalWorld, somePortal } from '../testing/test-portal.ts'

const password = 'seven green bottles on a wall'

test('a person without an account gets in by the link, a name and a password, and the link opens nothing after', async (t) => {
  const world = await somePortal(t)
  const { token, email, companyId } = await invited(world)
  const found = await world.postPage('/invitations/find', { token })
  assert.deepEqual(found.body, {
    side: 'company',
    tenant_name: 'Vendor',
    email,
    name: 'Ada',
    role: 'admin',
    has_account: false,
    second_factor_required: false,
    identity_provider: null,
  } as never)

  assert.equal((await world.postPage('/invitations/accept', { token })).body.code, 'field_invalid')
  const weak = await world.postPage('/invitations/accept', { token, name: 'Ada', password: 'vendorvendorvendor' })
  assert.equal(weak.body.code, 'password_refused')
  const accepted = await world.postPage('/invitations/accept', { token, name: 'Ada Lovelace', password })
  assert.deepEqual([accepted.status, accepted.body], [200, { side: 'company', id: companyId } as never])

  const session = await (await world.signIn({ email, password })).get('/session')
  const { memberships } = session.body as unknown as { memberships: { role: string }[] }
  assert.deepEqual(
    memberships.map(({ role }) => role),
    ['admin'],
  )
  for (const again of [
    await world.postPage('/invitations/find', { token }),
    await world.postPage('/invitations/accept', { token, name: 'Eve', password }),
  ]) {
    assert.deepEqual([again.status, again.body.code], [404, 'invitation_unknown'])
  }
  const { rows } = await world.pool.query(
    `select actor, facts from audit_event where action = 'account.invitation_accept'`,
  )
  assert.deepEqual(rows, [{ actor: `Ada Lovelace <${email}>`, facts: { tenant: 'Vendor' } }])
})

test('R12: nobody joins a suspended company, and the link opens again when it is resumed', async (t) => {
  const world = await somePortal(t)
  const { token, companyId } = await invited(world)
  const accept = () => world.postPage('/invitations/accept', { token, name: 'Ada', password })
  await world.pool.query(`update company set state = 'suspended' where id = $1`, [companyId])
  const refused = await accept()
  assert.deepEqual([refused.status, refused.body.code], [409, 'company_closed'])
  assert.match(refused.body.errors, /is suspended, so nothing of it can be changed/)
  await world.pool.query(`update company set state = 'active' where id = $1`, [companyId])
  assert.equal((await accept()).status, 200)
})

test('R06: a person who has an account accepts signed in as that address, and no forwarded link lets another one in', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const { token } = await invited(world, person.email.toUpperCase())
  const stranger = await world.signIn(await world.addPerson())

  for (const answer of [
    await world.postPage('/invitations/accept', { token }),
    await world.postPage('/invitations/accept', { token, name: 'Eve', password }),
    await stranger.post('/invitations/accept', { token }),
  ]) {
    assert.deepEqual([answer.status, answer.body.code], [409, 'account_other'])
  }
  const own = await world.signIn(person)
  const forged = await world.postPage('/invitations/accept', { token }, { cookie: own.cookie })
  assert.equal(forged.body.code, 'csrf_token_invalid')
  assert.equal((await own.post('/invitations/accept', { token })).status, 200)
  const { memberships } = (await own.get('/session')).body as unknown as { memberships: { name: string }[] }
  assert.deepEqual(
    memberships.map(({ name }) => name),
    ['Vendor'],
  )
})

test('of two that accept at the same time one gets in', async (t) => {
  const world = await somePortal(t)
  const { token, email } = await invited(world)
  const accept = () => world.postPage('/invitations/accept', { token, name: 'Ada', password })
  const answers = await Promise.all([accept(), accept()])
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  assert.equal((await world.pool.query('select from portal_user where email = $1', [email])).rows.length, 1)
})

test('a link that is too old, of later than now, of a member who was removed, or made up opens nothing', async (t) => {
  const world = await somePortal(t)
  const old = await invited(world)
  await world.pool.query(`update invitation set expires_at = now() - interval '1 second'`)
  const ahead = await invited(world)
  await world.pool.query(`update invitation set created_at = now() + interval '2 minutes' where member_id = $1`, [
    ahead.memberId,
  ])
  const removed = await invited(world)
  await world.pool.query('update membership set removed_at = now() where id = $1', [removed.memberId])
  for (const token of [old.token, ahead.token, removed.token, `bwi_${'x'.repeat(43)}`, 'x', old.token.slice(0, -1)]) {
    const answer = await world.postPage('/invitations/find', { token })
    assert.deepEqual([answer.status, answer.body.code], [404, 'invitation_unknown'])
  }
  const { rows } = await world.pool.query('select token_hmac from invitation')
  assert.equal(rows.length, 3)
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(old.token))
})

async function invited(world: PortalWorld, email = `${randomUUID()}@example.com`) {
  const { companyId } = await world.addVendor()
  const person = { email, name: 'Ada', role: 'admin' } as const
  const member = await addMember(world.pool, { side: 'company', id: companyId }, person)
  const { link } = await inviteMember(world.pool, { ...world, publicUrl: 'http://localhost' }, member, 'Olga')
  return { token: link.split('#')[1] ?? '', email, companyId, memberId: member.id }
}
