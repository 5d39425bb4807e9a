import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../../testing/test-world.ts'
import { read } from '../testing/test-company.ts'
import { type SignedIn, somePortal } from '../testing/test-portal.ts'

type Session = {
  id: string
  last_used_at: string
  user_agent: string | null
  ip: string | null
  second_factor: boolean
}

test('an owner sees where a member is signed in for this practice, and nothing of what the member does for another one', async (t) => {
  const { world, owner, ofMember, here, elsewhere, person } = await somePractices(t)
  const [used, unused] = [await world.signIn(person), await world.signIn(person)]
  await used.send('GET', `/organizations/${here}`, undefined, { 'user-agent': 'Anything' })
  await unused.get(`/organizations/${elsewhere}`)
  await unused.get('/session')
  await unused.send('GET', `/organizations/${here}`, undefined, { 'x-background': 'true' })

  const sessions = await sessionsOf(owner, ofMember)

  assert.equal(sessions.length, 1)
  assert.deepEqual(Object.keys(sessions[0] ?? {}).toSorted(), [
    'id',
    'ip',
    'is_current',
    'last_used_at',
    'second_factor',
    'signed_in_at',
    'user_agent',
  ])
  const own = read<{ data: Session[] }>(await used.get('/account/sessions'))
  assert.equal(own.data.length, 2)
  const same = own.data.find(({ id }) => id === sessions[0]?.id)
  assert.deepEqual([sessions[0]?.ip, sessions[0]?.user_agent], [same?.ip, same?.user_agent])
  // Later use elsewhere moves the time in the person's own list, and not here.
  await world.pool.query(`update session_use set last_used_at = now() - interval '5 minutes' where tenant_id = $1`, [
    here,
  ])
  await used.get(`/organizations/${elsewhere}`)
  const [later] = await sessionsOf(owner, ofMember)
  assert.ok(Date.now() - Date.parse(later?.last_used_at ?? '') > 4 * 60_000)
  await used.get(`/organizations/${here}`)
  const [latest] = await sessionsOf(owner, ofMember)
  assert.ok(Date.now() - Date.parse(latest?.last_used_at ?? '') < 60_000)
})

test('an owner ends one session or all of a member; the member gets a mail, and it is on record on both sides', async (t) => {
  const { world, owner, ofMember, here, elsewhere, person } = await somePractices(t)
  const [one, two, other] = [await world.signIn(person), await world.signIn(person), await world.signIn(person)]
  await one.get(`/organizations/${here}`)
  const [first] = await sessionsOf(owner, ofMember)
  await two.get(`/organizations/${here}`)
  await other.get(`/organizations/${elsewhere}`)

  assert.equal((await owner.delete(`${ofMember}/${first?.id}`)).status, 200)

  assert.equal((await one.get('/session')).status, 401)
  assert.equal((await two.get('/session')).status, 200)
  assertRefused(await owner.delete(`${ofMember}/${first?.id}`), 404, 'not_found')
  assert.match((await world.mailsTo(person.email))[0]?.text ?? '', /^Hello Mia,\n\n“Person” of “Here” ended a session/)
  assert.deepEqual(read(await owner.delete(ofMember)), { ended: 1 })
  assert.equal((await two.get('/session')).status, 401)
  assert.equal((await other.get('/session')).status, 200)
  assert.deepEqual(read(await owner.delete(ofMember)), { ended: 0 })
  const history = read<{ data: { what: string }[] }>(await owner.get(`/organizations/${here}/events`))
  assert.deepEqual(
    history.data.map(({ what }) => what),
    Array(2).fill(`Ended 1 session of “Mia <${person.email}>”`),
  )
  const events = read<{ data: { action: string; actor: string; what: string; ip: string | null }[] }>(
    await other.get('/account/events'),
  )
  const ended = events.data.filter(({ action }) => action === 'account.session_end')
  assert.deepEqual(
    ended.map(({ actor, what, ip }) => [actor, what, ip]),
    Array(2).fill([`Person <${owner.person.email}>`, 'Ended 1 session of yours for “Here”', null]),
  )
})

test('a session that was not used for the practice cannot be ended from there, nor one of another practice’s member', async (t) => {
  const { world, owner, ofMember, elsewhere, person } = await somePractices(t)
  const signed = await world.signIn(person)
  await signed.get(`/organizations/${elsewhere}`)
  const { data } = read<{ data: Session[] }>(await signed.get('/account/sessions'))
  const stranger = await world.signInAs({ organizationId: elsewhere }, 'owner')

  assertRefused(await owner.delete(`${ofMember}/${data[0]?.id}`), 404, 'not_found')
  assert.deepEqual(read(await owner.delete(ofMember)), { ended: 0 })
  const foreign = ofMember.replace(/tenants\/\w+/, `tenants/${elsewhere}`)
  assertRefused(await stranger.get(foreign), 404, 'member_unknown')
  assertRefused(await stranger.delete(foreign), 404, 'member_unknown')
  assert.equal((await signed.get('/session')).status, 200)
})

/** Two practices with one member in common; `ofMember`: the path of the member's sessions in the first. */
async function somePractices(t: Parameters<typeof somePortal>[0]) {
  const world = await somePortal(t)
  const [here, elsewhere] = [await world.addOrganization('Here'), await world.addOrganization('Elsewhere')]
  const owner = await world.signInAs({ organizationId: here }, 'owner')
  const person = await world.addPerson('Mia')
  await world.joinOrganization(person, here, 'member')
  await world.joinOrganization(person, elsewhere, 'member')
  const members = read<{ data: { id: string; email: string }[] }>(await owner.get(`/tenants/${here}/members`))
  const id = members.data.find(({ email }) => email === person.email)?.id
  return { world, here, elsewhere, owner, person, ofMember: `/tenants/${here}/members/${id}/sessions` }
}

async function sessionsOf(owner: SignedIn, path: string): Promise<Session[]> {
  return read<{ data: Session[] }>(await owner.get(path)).data
}

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text)
}
