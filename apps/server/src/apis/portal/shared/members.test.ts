import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Side } from '@bridgework/contract/portal'
import { actInWords } from '../../../modules/audit/in-words.ts'
import { listAudit } from '../../../modules/audit/store.ts'
import type { Answer } from '../../../testing/test-world.ts'
import { type PortalWorld, type SignedIn, somePortal } from '../testing/test-portal.ts'

type Member = { id: string; email: string; name: string; role: string; state: string; is_you: boolean }

async function listOf(person: SignedIn, path: string): Promise<Member[]> {
  const answer = await person.get(`${path}/members`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data as unknown as Member[]
}

async function idOf(person: SignedIn, path: string): Promise<string> {
  return (await listOf(person, path)).find((each) => each.is_you)?.id ?? ''
}

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text)
}

async function mailsTo(world: PortalWorld, recipient: string): Promise<string[]> {
  const { rows } = await world.pool.query<{ text_body: string }>(
    'select text_body from mail where recipient = $1 order by id',
    [recipient],
  )
  return rows.map((row) => row.text_body)
}

async function historyOf(world: PortalWorld, side: Side, path: string): Promise<string[]> {
  const tenantId = path.replace('/tenants/', '')
  const all = { search: '', person: '', actions: null, from: new Date(0), until: new Date('9999-01-01') }
  const { entries } = await listAudit(world.pool, { side, tenantId, ...all }, { limit: 25, offset: 0 })
  return entries.map((entry) => `${entry.action}: ${actInWords(entry).what}`)
}

/** Both sides keep their members in the same way: each test walks both. */
const sides = [
  {
    name: 'a company',
    side: 'company',
    start: async (t: TestContext) => {
      const world = await somePortal(t)
      const { companyId } = await world.addVendor()
      const { companyId: otherId } = await world.addVendor()
      return { world, place: { companyId }, path: `/tenants/${companyId}`, other: { companyId: otherId } }
    },
    otherPath: (other: object) => `/tenants/${(other as { companyId: string }).companyId}`,
  },
  {
    name: 'an organization',
    side: 'organization',
    start: async (t: TestContext) => {
      const world = await somePortal(t)
      const [organizationId, otherId] = [await world.addOrganization(), await world.addOrganization()]
      return {
        world,
        place: { organizationId },
        path: `/tenants/${organizationId}`,
        other: { organizationId: otherId },
      }
    },
    otherPath: (other: object) => `/tenants/${(other as { organizationId: string }).organizationId}`,
  },
] as const

for (const { name, side, start, otherPath } of sides) {
  test(`an owner or admin of ${name} invites a person by mail, again when asked, and a new link ends the one before`, async (t) => {
    const { world, place, path } = await start(t)
    const admin = await world.signInAs(place, 'admin')
    const guest = { email: `${randomUUID()}@example.com`, name: 'Guest', role: 'member' }

    const invited = await admin.post(`${path}/members`, guest)

    assert.equal(invited.status, 200, invited.text)
    const member = invited.body as unknown as Member
    assert.deepEqual([member.email, member.role, member.state], [guest.email, 'member', 'invited'])
    assert.equal((await admin.post(`${path}/members/${member.id}/invitation`)).status, 200)
    const mails = await mailsTo(world, guest.email)
    assert.equal(mails.length, 2)
    assert.notEqual(mails[0], mails[1])
    const { rows } = await world.pool.query('select from invitation where member_id = $1', [member.id])
    assert.equal(rows.length, 1)
    assertRefused(
      await admin.post(`${path}/members`, { ...guest, email: guest.email.toUpperCase() }),
      409,
      'member_exists',
    )
    assertRefused(await admin.post(`${path}/members`, { ...guest, role: 'owner' }), 422, 'field_invalid')
    assertRefused(await admin.post(`${path}/members`, { ...guest, email: 'nobody' }), 422, 'field_invalid')
    assert.equal((await mailsTo(world, guest.email)).length, 2)
    const you = await idOf(admin, path)
    assertRefused(await admin.post(`${path}/members/${you}/invitation`), 409, 'member_active')
    await world.pool.query('update invitation set expires_at = now()')
    const found = (await listOf(admin, path)).find((each) => each.id === member.id)
    assert.equal(found?.state, 'expired')
    assert.deepEqual(await historyOf(world, side, path), [
      `member.manage: Invited “Guest <${guest.email}>” again`,
      `member.manage: Invited “Guest <${guest.email}>” as member`,
    ])
  })

  test(`who is removed from ${name} is out at the next request, their link opens nothing, and they may be invited anew`, async (t) => {
    const { world, place, path } = await start(t)
    const owner = await world.signInAs(place, 'owner')
    const member = await world.signInAs(place, 'member')
    const memberId = await idOf(member, path)
    assert.equal((await member.get(`${path}/members`)).status, 200)

    assert.equal((await owner.delete(`${path}/members/${memberId}`)).status, 200)

    assertRefused(await member.get(`${path}/members`), 404, `${side}_unknown`)
    assertRefused(await owner.delete(`${path}/members/${memberId}`), 404, 'member_unknown')
    const again = await owner.post(`${path}/members`, { email: member.person.email, name: 'Back', role: 'admin' })
    assert.equal(again.status, 200, again.text)
    const backId = (again.body as unknown as Member).id
    assert.notEqual(backId, memberId)
    assert.equal((await owner.delete(`${path}/members/${backId}`)).status, 200)
    const { rows } = await world.pool.query('select from invitation where member_id = $1', [backId])
    assert.equal(rows.length, 0)
    assert.deepEqual(
      (await listOf(owner, path)).map((each) => each.role),
      ['owner'],
    )
  })

  test(`the owner of ${name} can neither be removed nor demoted, and one who was demoted manages no members any more`, async (t) => {
    const { world, place, path } = await start(t)
    const owner = await world.signInAs(place, 'owner')
    const admin = await world.signInAs(place, 'admin')
    const [ownerId, adminId] = [await idOf(owner, path), await idOf(admin, path)]

    for (const person of [owner, admin]) {
      assertRefused(await person.delete(`${path}/members/${ownerId}`), 409, 'owner_stays')
      assertRefused(await person.patch(`${path}/members/${ownerId}`, { role: 'member' }), 409, 'owner_stays')
      assertRefused(await person.patch(`${path}/members/${adminId}`, { role: 'owner' }), 422, 'field_invalid')
    }
    assertRefused(await admin.post(`${path}/ownership`, { member_id: adminId }), 403, 'role_denied')
    assert.equal((await owner.patch(`${path}/members/${adminId}`, { role: 'member' })).status, 200)
    assertRefused(await admin.patch(`${path}/members/${adminId}`, { role: 'admin' }), 403, 'role_denied')
    assert.deepEqual(
      (await listOf(owner, path)).map((each) => each.role),
      ['owner', 'member'],
    )
    assert.deepEqual(await historyOf(world, side, path), [
      `member.manage: Made “Person <${admin.person.email}>” member`,
    ])
  })

  test(`ownership of ${name} goes to an active member in one step, and the former owner is an admin`, async (t) => {
    const { world, place, path } = await start(t)
    const owner = await world.signInAs(place, 'owner')
    const heir = await world.signInAs(place, 'member')
    const [ownerId, heirId] = [await idOf(owner, path), await idOf(heir, path)]
    const invited = await owner.post(`${path}/members`, { email: 'guest@example.com', name: 'Guest', role: 'admin' })
    const guestId = (invited.body as unknown as Member).id

    assertRefused(await owner.post(`${path}/ownership`, { member_id: guestId }), 409, 'member_not_active')
    assertRefused(await owner.post(`${path}/ownership`, { member_id: ownerId }), 409, 'owner_exists')
    const answers = await Promise.all([1, 2].map(() => owner.post(`${path}/ownership`, { member_id: heirId })))

    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 403])
    const roles = new Map((await listOf(heir, path)).map((each) => [each.id, each.role]))
    assert.deepEqual([roles.get(heirId), roles.get(ownerId), roles.get(guestId)], ['owner', 'admin', 'admin'])
    assertRefused(await owner.post(`${path}/ownership`, { member_id: ownerId }), 403, 'role_denied')
    const handed = (await historyOf(world, side, path)).filter((each) => each.includes('ownership'))
    assert.equal(handed.length, 1)
    assert.match(handed[0] ?? '', /^ownership\.transfer: Transferred ownership from “Person <.*>” to “Person </)
  })

  test(`two admins of ${name} who remove each other at once leave one of them`, async (t) => {
    const { world, place, path } = await start(t)
    const [one, two] = [await world.signInAs(place, 'admin'), await world.signInAs(place, 'admin')]
    const [oneId, twoId] = [await idOf(one, path), await idOf(two, path)]

    const answers = await Promise.all([one.delete(`${path}/members/${twoId}`), two.delete(`${path}/members/${oneId}`)])

    const statuses = answers.map((answer) => answer.status).sort()
    assert.equal(statuses[0], 200)
    // Removed before its request was let in, or while it waited its turn.
    assert.ok(statuses[1] === 403 || statuses[1] === 404, String(statuses[1]))
  })

  test(`W19: a member of ${name} is nobody’s to change but its own people’s`, async (t) => {
    const { world, place, path, other } = await start(t)
    const owner = await world.signInAs(place, 'owner')
    const stranger = await world.signInAs(other, 'admin')
    const strangerId = await idOf(stranger, otherPath(other))

    for (const id of [strangerId, randomUUID(), 'me', strangerId.toUpperCase()]) {
      assertRefused(await owner.delete(`${path}/members/${id}`), 404, 'member_unknown')
      assertRefused(await owner.patch(`${path}/members/${id}`, { role: 'member' }), 404, 'member_unknown')
      assertRefused(await owner.post(`${path}/members/${id}/invitation`), 404, 'member_unknown')
    }
    assertRefused(await owner.post(`${path}/ownership`, { member_id: strangerId }), 404, 'member_unknown')
    assert.equal((await stranger.get(`${otherPath(other)}/members`)).status, 200)
  })
}

test('operators invite and remove each other, change roles, and the last admin who can sign in stays', async (t) => {
  const world = await somePortal(t)
  const operator = await world.signInAs('operator', 'admin')
  const second = await world.signInAs('operator', 'admin')
  const path = '/tenants/operator'
  const third = { email: 'third@example.com', name: 'Third', role: 'admin' }
  for (const role of ['member', 'owner'])
    assertRefused(await operator.post(`${path}/members`, { ...third, role }), 422, 'field_invalid')
  const invited = await operator.post(`${path}/members`, third)
  assert.equal(invited.status, 200, invited.text)
  assert.match((await mailsTo(world, third.email))[0] ?? '', /Bridgework/)
  const thirdId = (invited.body as unknown as Member).id
  assert.equal((await operator.post(`${path}/members/${thirdId}/invitation`)).status, 200)
  assert.equal((await mailsTo(world, third.email)).length, 2)
  const [operatorId, secondId] = [await idOf(operator, path), await idOf(second, path)]

  assertRefused(await operator.patch(`${path}/members/${secondId}`, { role: 'member' }), 422, 'field_invalid')
  assertRefused(await operator.post(`${path}/ownership`, { member_id: secondId }), 403, 'role_denied')
  assert.equal((await operator.patch(`${path}/members/${secondId}`, { role: 'support' })).status, 200)
  assertRefused(await second.patch(`${path}/members/${secondId}`, { role: 'admin' }), 403, 'role_denied')
  assertRefused(await operator.patch(`${path}/members/${operatorId}`, { role: 'support' }), 409, 'last_operator')
  assert.equal((await operator.delete(`${path}/members/${secondId}`)).status, 200)
  assertRefused(await second.get(`${path}/members`), 403, 'role_denied')
  assertRefused(await operator.delete(`${path}/members/${operatorId}`), 409, 'last_operator')
  assert.deepEqual((await listOf(operator, path)).map((each) => `${each.role} ${each.state}`).sort(), [
    'admin active',
    'admin invited',
  ])
})

test('two operators who remove each other at once leave one of them', async (t) => {
  const world = await somePortal(t)
  const [one, two] = [await world.signInAs('operator', 'admin'), await world.signInAs('operator', 'admin')]
  const path = '/tenants/operator'
  const [oneId, twoId] = [await idOf(one, path), await idOf(two, path)]

  const answers = await Promise.all([one.delete(`${path}/members/${twoId}`), two.delete(`${path}/members/${oneId}`)])

  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 403])
  const { rows } = await world.pool.query('select from membership where removed_at is null')
  assert.equal(rows.length, 1)
})

test('a person who acts for all three sides has each as what they are there, and a role counts nowhere else', async (t) => {
  const world = await somePortal(t)
  const [{ companyId }, organizationId] = [await world.addVendor(), await world.addOrganization()]
  const person = await world.addPerson('Ada')
  await world.joinCompany(person, companyId, 'admin')
  await world.joinOrganization(person, organizationId, 'member')
  await world.makeOperator(person)
  const ada = await world.signIn(person)

  const session = (await ada.get('/session')).body as unknown as { memberships: Record<string, string>[] }
  assert.deepEqual(
    session.memberships.map(({ side, id, role }) => [side, id, role]),
    [
      ['company', companyId, 'admin'],
      ['operator', 'operator', 'admin'],
      ['organization', organizationId, 'member'],
    ],
  )
  const guest = { email: 'guest@example.com', name: 'Guest', role: 'member' }
  assertRefused(await ada.post(`/tenants/${organizationId}/members`, guest), 403, 'role_denied')
  assertRefused(await ada.post(`/tenants/${companyId}/ownership`, { member_id: randomUUID() }), 403, 'role_denied')
  for (const id of ['', 'x', '0', companyId.toUpperCase(), 'Operator']) {
    assert.equal((await ada.get(`/tenants/${id}/members`)).status, 404, id)
  }
  assertRefused(await ada.get(`/tenants/${randomUUID()}/members`), 404, 'company_unknown')
  assertRefused(await ada.get('/tenants/7/members'), 404, 'organization_unknown')
})
