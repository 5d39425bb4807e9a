import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { EnrolmentCode } from '@bridgework/contract/portal'
import { sealRelease } from '@bridgework/contract/signed-release'
import { noteFailedRelease, publishRelease } from '../../../modules/agents/release.ts'
import { somePortal } from '../testing/test-portal.ts'

type Dataset = { dataset: string; has_patient_data: boolean }
type Agent = { id: string; state: string; name: string }

async function somePractice(t: TestContext, options: Parameters<typeof somePortal>[1] = {}) {
  const world = await somePortal(t, options)
  const location = await world.addLocation()
  const { organizationId } = location
  const path = `/organizations/${organizationId}`
  const owner = await world.signInAs({ organizationId }, 'owner')
  const foreign = await world.addLocation()
  const stranger = await world.signInAs({ organizationId: foreign.organizationId }, 'owner')
  const agents = async () => ((await owner.get(`${path}/agents`)).body as unknown as { data: Agent[] }).data
  return { ...world, location, organizationId, path, owner, foreign, stranger, agents }
}

test('a practice sees itself in numbers, and an admin may rename it and set its time zone', async (t) => {
  const world = await somePractice(t)
  const { owner, path, organizationId } = world
  await world.addVendor([world.location])
  const page = await owner.get(path)
  const { created_at, datasets, ...numbers } = page.body as unknown as { created_at: string; datasets: Dataset[] }
  assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
  assert.deepEqual(
    datasets.filter((each) => !each.has_patient_data).map((each) => each.dataset),
    ['fee_schedules', 'insurance_plans'],
  )
  assert.deepEqual(numbers, {
    id: organizationId,
    name: 'Practice',
    time_zone: null,
    country: null,
    locations: 1,
    agents: { living: 1, connected: 0, missed: 1 },
    removals: 0,
    vendors: 1,
    access_requests: [],
    renamed_vendors: [],
    members: 1,
    first_steps_dismissed_at: null,
    locations_by_state: { current: 0, stale: 0, disconnected: 0, pending: 1, not_provided: 0 },
    locations_not_current: [{ id: world.location.id, name: 'Location', state: 'pending' }],
    agent_problems: [],
    first_syncs: [{ location_id: world.location.id, name: 'Location', complete: 0, datasets: 7, reading: null }],
    locations_with_two_agents: 0,
    agents_with_copies: 0,
  })

  const admin = await world.signInAs({ organizationId }, 'admin')
  const member = await world.signInAs({ organizationId }, 'member')
  const change = { name: ' Smile Group ', time_zone: 'America/Denver' }
  assert.equal((await member.patch(path, change)).body.code, 'role_denied')
  assert.equal((await admin.patch(path, change)).status, 200)
  for (const wrong of [{ name: '' }, { name: 'x', time_zone: 'Mars/Olympus' }, { name: 'x', country: 'US' }]) {
    assert.deepEqual([(await admin.patch(path, wrong)).status], [422], JSON.stringify(wrong))
  }
  const after = (await member.get(path)).body as unknown as { name: string; time_zone: string }
  assert.deepEqual([after.name, after.time_zone], ['Smile Group', 'America/Denver'])
  await admin.patch(path, { name: 'Smile Group' })
  assert.equal(((await member.get(path)).body as unknown as { time_zone: string }).time_zone, 'America/Denver')
  assert.equal((await member.get(`${path}/events`)).body.code, 'role_denied')
  const dismissedAt = async () => (await member.get(path)).body.first_steps_dismissed_at
  assert.equal((await member.get(path)).body.members, 3)
  assert.equal((await member.post(`${path}/first_steps/dismiss`)).body.code, 'role_denied')
  assert.equal(await dismissedAt(), null)
  assert.equal((await admin.post(`${path}/first_steps/dismiss`)).status, 200)
  assert.ok(Math.abs(Date.parse(String(await dismissedAt())) - Date.now()) < 60_000)
  const events = (await owner.get(`${path}/events?search=denver`)).body as unknown as {
    total: number
    data: { what: string }[]
  }
  assert.deepEqual(
    [events.total, events.data[0]?.what],
    [1, 'Named the practice “Smile Group” and set its time zone to America/Denver'],
  )
  assert.equal((await world.stranger.get(path)).body.code, 'organization_unknown')
})

test('an admin sets the time zone of a location, which its agent receives and uses from then on', async (t) => {
  const world = await somePortal(t)
  const { id, organizationId } = await world.addLocation()
  const path = `/organizations/${organizationId}/locations/${id}`
  const admin = await world.signInAs({ organizationId }, 'admin')
  const member = await world.signInAs({ organizationId }, 'member')
  const change = { time_zone: 'America/Boise' }
  assert.equal((await member.patch(path, change)).body.code, 'role_denied')
  assert.equal((await admin.patch(path, change)).status, 200)
  for (const wrong of [{ time_zone: 'MST' }, { time_zone: '-07:00' }, {}]) {
    assert.equal((await admin.patch(path, wrong)).status, 422, JSON.stringify(wrong))
  }
  const zones = async () => {
    const { time_zone, assigned_time_zone } = (await member.get(path)).body as Record<string, unknown>
    return [time_zone, assigned_time_zone]
  }
  assert.deepEqual(await zones(), ['America/New_York', 'America/Boise'])
  assert.equal((await admin.patch(path, { time_zone: null })).status, 200)
  assert.deepEqual(await zones(), ['America/New_York', null])
  const stranger = await world.signInAs({ organizationId: (await world.addLocation()).organizationId }, 'owner')
  assert.notEqual((await stranger.patch(path, change)).status, 200)
  const events = (await admin.get(`/organizations/${organizationId}/events?search=boise`)).body as unknown as {
    data: { what: string }[]
  }
  assert.match(events.data[0]?.what ?? '', /time zone of “Location” to America\/Boise$/)
})

test('the code that enrols an agent is shown once, with commands that work as they are shown', async (t) => {
  const world = await somePractice(t)
  const { owner, path } = world
  const answer = await owner.post(`${path}/enrolment_codes`)
  const { code, systems } = answer.body as unknown as EnrolmentCode
  assert.equal(answer.status, 200)
  assert.match(code, /^bwe_/)
  const agent = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../../agent/package.json'), 'utf8'))
  const file = `${agent.name.replace('@', '').replace('/', '-')}-${agent.version}.tgz`
  assert.equal(systems[0]?.downloads[0]?.name, file)
  for (const { name, steps } of systems) {
    const enroll = steps.find(({ title }) => title === 'Enroll')?.command ?? ''
    assert.match(enroll, new RegExp(`enroll --server http://localhost --code ${code} `), name)
    for (const { command } of steps) assert.doesNotMatch(command, /[<>…]/, name)
  }
  assert.doesNotMatch((await owner.get(`${path}/events`)).text, new RegExp(code))

  const folder = mkdtempSync(join(tmpdir(), 'bridgework-enrol-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const clone = systems.at(-1)?.steps[0]?.command ?? ''
  const words = clone.replace('npm run agent -- ', '').replace('http://localhost ', `${world.url} `).split(' ')
  const main = join(import.meta.dirname, '../../../../../agent/src/main.ts')
  const config = join(folder, 'config.json')
  const enrolling = spawn(process.execPath, [main, ...words, '--config', config], {
    env: { PATH: process.env.PATH, BRIDGEWORK_AGENT_DB_PASSWORD: 'a password' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [exitCode] = await once(enrolling, 'exit')
  assert.equal(exitCode, 0, String(enrolling.stderr.read()))
  const { agent_id } = JSON.parse(readFileSync(config, 'utf8'))
  assert.ok((await world.agents()).some(({ id, state }) => id === agent_id && state === 'never_heard'))
})

test('W19: an agent is shown as connected while it calls, silent when it does not, and is revoked by its own practice alone', async (t) => {
  const clock = { now: Date.now() }
  const world = await somePractice(t, { now: () => new Date(clock.now) })
  const { owner, path, stranger, foreign } = world
  const [agent] = await world.agents()
  assert.equal(agent?.state, 'never_heard')
  await world.location.upload('insurance_plans', {})
  assert.equal((await world.agents())[0]?.state, 'connected')
  clock.now += 3 * 60_000 + 10_000
  assert.equal((await world.agents())[0]?.state, 'silent')

  const member = await world.signInAs({ organizationId: world.organizationId }, 'member')
  assert.equal((await member.delete(`${path}/agents/${agent?.id}`)).body.code, 'role_denied')
  assert.equal((await member.post(`${path}/enrolment_codes`)).body.code, 'role_denied')
  assert.equal((await stranger.delete(`${path}/agents/${agent?.id}`)).body.code, 'organization_unknown')
  const own = `/organizations/${foreign.organizationId}/agents/${agent?.id}`
  assert.equal((await stranger.delete(own)).body.code, 'agent_unknown')
  assert.equal((await owner.delete(`${path}/agents/x`)).body.code, 'agent_unknown')
  assert.equal((await world.agents())[0]?.state, 'silent', 'nobody has revoked it yet')

  assert.equal((await owner.delete(`${path}/agents/${agent?.id}`)).status, 200)
  assert.equal((await world.agents())[0]?.state, 'revoked')
  assert.equal((await world.location.upload('insurance_plans', {})).body.code, 'agent_key_invalid')
  assert.equal((await owner.delete(`${path}/agents/${agent?.id}`)).body.code, 'agent_unknown')
})

test('an owner or admin turns updates of agents on and off, and the list says so and which release an agent rolled back', async (t) => {
  const { pool, owner, stranger, path, organizationId, location, signInAs } = await somePractice(t)
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  await publishRelease(pool, sealRelease('9.1.0', Buffer.from('//'), privateKey), publicKey, async () => {})
  type List = { takes_updates: boolean; newest_release: string; data: { failed_release: object | null }[] }
  const list = async () => (await owner.get(`${path}/agents`)).body as unknown as List
  const before = await list()
  assert.deepEqual(
    [before.takes_updates, before.newest_release, before.data[0]?.failed_release],
    [false, '9.1.0', null],
  )

  const member = await signInAs({ organizationId }, 'member')
  assert.equal((await member.put(`${path}/agent_updates`, { is_on: true })).body.code, 'role_denied')
  assert.equal((await stranger.put(`${path}/agent_updates`, { is_on: true })).body.code, 'organization_unknown')
  assert.equal((await owner.put(`${path}/agent_updates`, { is_on: 'yes' })).body.code, 'field_invalid')
  assert.equal((await list()).takes_updates, false)
  const admin = await signInAs({ organizationId }, 'admin')
  for (const is_on of [true, true]) assert.equal((await admin.put(`${path}/agent_updates`, { is_on })).status, 200)
  assert.equal((await list()).takes_updates, true)
  await noteFailedRelease(pool, location.agent.agentId, { version: '9.1.0', outcome: 'rolled_back' })
  assert.deepEqual((await list()).data[0]?.failed_release, { version: '9.1.0', outcome: 'rolled_back' })
  await pool.query(`update agent set version = '9.2.0' where id = $1`, [location.agent.agentId])
  assert.equal((await list()).data[0]?.failed_release, null, 'a later version runs')
  assert.equal((await owner.put(`${path}/agent_updates`, { is_on: false })).status, 200)
  assert.equal((await list()).takes_updates, false)
  const { rows } = await pool.query(
    `select facts from audit_event where action = 'agent_updates.change' and tenant_id = $1 order by id`,
    [organizationId],
  )
  assert.deepEqual(
    rows.map(({ facts }) => facts),
    [{ isOn: true }, { isOn: false }],
  )
})
