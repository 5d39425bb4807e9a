import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { deleteOldSyncActivity } from '../../../modules/datasets/sync-activity.ts'
import { somePortal } from '../testing/test-portal.ts'

type Cell = { at: string; reads: number; kind: string }
type Location = {
  id: string
  name: string
  address: string | null
  state: string
  cell_seconds: number
  datasets: { dataset: string; state: string; total: number; visible: number; removal: string | null }[]
  timeline: { dataset: string; cells: Cell[] }[]
}

const dataset = 'insurance_plans'

/** A location in New York, open from 9 to 17 on Mondays, with a clock of the test's. */
async function someOffice(t: TestContext, now: string) {
  const clock = { now: new Date(now) }
  const world = await somePortal(t, { now: () => clock.now })
  const location = await world.addLocation({ insurancePlans: 2 })
  await world.pool.query(`update location set time_zone = 'America/New_York', office_hours = $2 where id = $1`, [
    location.id,
    JSON.stringify({ monday: [{ opens: '09:00', closes: '17:00' }] }),
  ])
  const { organizationId, agent } = location
  const path = `/organizations/${organizationId}/locations`
  // The sign-in is of the machine's time, which the test's clock does not move.
  const read = async (at: string, complete = true) => {
    const answer = await world.confirmReads(agent, location.id, [dataset], { read_at: at, complete })
    assert.equal(answer.status, 200, answer.text)
  }
  return { ...world, clock, location, organizationId, path, read }
}

test('a location shows what each dataset holds and how current it is', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  await location.upload(dataset, { p1: null })
  const path = `/organizations/${location.organizationId}/locations`
  await world.pool.query(
    `update location set address_line_1 = '1 Main St', city = 'Salem', state = 'OR', postal_code = '97301' where id = $1`,
    [location.id],
  )
  await world.addLocation({ organizationId: location.organizationId })
  const member = await world.signInAs({ organizationId: location.organizationId }, 'member')
  const found = async (search: string) =>
    (await member.get(`${path}?search=${search}`)).body as unknown as { total: number; data: Location[] }

  assert.equal((await found('')).total, 2)
  const { total, data } = await found('salem')
  assert.equal(total, 1)
  assert.deepEqual(
    [data[0]?.id, data[0]?.address, data[0]?.state],
    [location.id, '1 Main St, Salem, OR 97301', 'pending'],
  )
  assert.deepEqual(
    data[0]?.datasets.map((each) => each.dataset),
    datasetNames,
  )
  const plans = data[0]?.datasets.find((each) => each.dataset === dataset)
  assert.deepEqual([plans?.total, plans?.visible, plans?.state, plans?.removal], [3, 2, 'pending', null])
})

test('a timeline tells what was read, what was missed, when the office was closed, and when nothing had been synced yet', async (t) => {
  const world = await someOffice(t, '2026-01-05T17:05:00Z')
  const { location, path, organizationId, pool } = world
  // Monday noon in New York, the clock of the timeline; the reads are put where they were.
  const activity = (at: string, reads: number) =>
    pool.query('insert into sync_activity (location_id, dataset, bucket_at, reads) values ($1, $2, $3, $4)', [
      location.id,
      dataset,
      at,
      reads,
    ])
  await pool.query(
    `update dataset_state set initial_sync_completed_at = '2026-01-05T12:10:00Z', synced_at = '2026-01-05T15:10:00Z'
      where location_id = $1 and dataset = $2`,
    [location.id, dataset],
  )
  await activity('2026-01-05T14:00:00Z', 14)
  await activity('2026-01-05T14:15:00Z', 15)
  await activity('2026-01-05T15:00:00Z', 3)
  const owner = await world.signInAs({ organizationId }, 'owner')
  // The sign-in is of the machine's time; one that lies ahead of the clock is refused.
  await pool.query('update portal_session set created_at = $1, updated_at = $1', [world.clock.now])
  const page = async (range: string) =>
    (await owner.get(`${path}/${location.id}?range=${range}`)).body as unknown as Location
  const day = await page('24h')
  const cells = day.timeline.find((each) => each.dataset === dataset)?.cells ?? []
  const kindAt = (at: string) => cells.find((cell) => cell.at === `2026-01-05T${at}:00.000Z`)?.kind

  assert.deepEqual([day.cell_seconds, cells.length, cells[0]?.at], [900, 95, '2026-01-04T17:15:00.000Z'])
  assert.equal(kindAt('11:45'), 'none')
  assert.equal(kindAt('13:45'), 'closed', 'a quarter before it opens')
  assert.deepEqual(['14:00', '14:15', '14:30', '15:00'].map(kindAt), ['read', 'read', 'missed', 'read'])
  assert.equal(kindAt('17:00'), undefined, 'the quarter that runs is shown when it is decided')
  const others = day.timeline.filter((each) => each.dataset !== dataset).flatMap((each) => each.cells)
  assert.ok(others.every((cell) => cell.kind === 'none'))

  const week = await page('7d')
  const twoHours = week.timeline.find((each) => each.dataset === dataset)?.cells ?? []
  assert.deepEqual([week.cell_seconds, twoHours[0]?.at], [7200, '2025-12-29T18:00:00.000Z'])
  assert.deepEqual(twoHours.slice(-3), [
    { at: '2026-01-05T12:00:00.000Z', reads: 0, kind: 'closed' },
    { at: '2026-01-05T14:00:00.000Z', reads: 32, kind: 'read' },
    { at: '2026-01-05T16:00:00.000Z', reads: 0, kind: 'missed' },
  ])
  assert.equal((await owner.get(`${path}/${location.id}?range=1y`)).body.code, 'parameter_invalid')
})

test('each finished read counts in its quarter of an hour, and is forgotten after 30 days', async (t) => {
  const world = await someOffice(t, new Date().toISOString())
  const quarter = new Date(Math.floor(Date.now() / 900_000) * 900_000 - 900_000)
  for (const minutes of [1, 2, 14]) await world.read(new Date(quarter.getTime() + minutes * 60_000).toISOString())
  const counted = async () =>
    (await world.pool.query('select dataset, bucket_at, reads from sync_activity order by bucket_at')).rows
  assert.deepEqual(await counted(), [{ dataset, bucket_at: quarter, reads: 3 }])
  const owner = await world.signInAs({ organizationId: world.organizationId }, 'owner')
  const page = (await owner.get(`${world.path}/${world.location.id}`)).body as unknown as Location
  const cells = page.timeline.find((each) => each.dataset === dataset)?.cells ?? []
  assert.deepEqual(
    cells.find(({ at }) => at === quarter.toISOString()),
    { at: quarter.toISOString(), reads: 3, kind: 'read' },
  )

  await world.pool.query(`update sync_activity set bucket_at = bucket_at - interval '31 days'`)
  await deleteOldSyncActivity(world.pool, [world.location.id])
  assert.deepEqual(await counted(), [])
})

test('W19: another practice’s location is not found, as one that does not exist', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const foreign = await world.addLocation()
  const stranger = await world.signInAs({ organizationId: foreign.organizationId }, 'owner')
  for (const id of [location.id, '7', 'x', `0${foreign.id}`]) {
    const answer = await stranger.get(`/organizations/${foreign.organizationId}/locations/${id}`)
    assert.deepEqual([answer.status, answer.body.code], [404, 'location_unknown'], id)
  }
  assert.equal(
    (await stranger.get(`/organizations/${location.organizationId}/locations`)).body.code,
    'organization_unknown',
  )
})

test('a location shows which agent writes there and which one was refused, and an admin lets that one take over', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 2 })
  const { organizationId, agent } = location
  const other = await world.addAgent(organizationId)
  const admin = await world.signInAs({ organizationId }, 'admin')
  const path = `/organizations/${organizationId}/locations/${location.id}`
  const shown = async () => {
    const { writer } = (await admin.get(path)).body as unknown as {
      writer: { agent_id: string; last_contact_at: string; refused: { agent_id: string } | null }
    }
    assert.ok(Date.parse(writer.last_contact_at) > Date.now() - 60_000)
    return [writer.agent_id, writer.refused?.agent_id]
  }
  const contested = async () =>
    ((await admin.get(`/organizations/${organizationId}`)).body as unknown as { locations_with_two_agents: number })
      .locations_with_two_agents
  const cycle = async (by: typeof agent) => (await world.confirmReads(by, location.id, [dataset])).body.not_confirmed
  assert.deepEqual([await shown(), await contested()], [[agent.agentId, undefined], 0])
  assert.deepEqual(await cycle(other), [location.id])
  assert.deepEqual([await shown(), await contested()], [[agent.agentId, other.agentId], 1])

  const stranger = await world.addAgent(await world.addOrganization())
  for (const agent_id of [stranger.agentId, '0', 'x']) {
    const refused = await admin.send('PUT', `${path}/writer`, { agent_id })
    assert.deepEqual([refused.status, refused.body.code], [404, 'agent_unknown'])
  }
  const taken = await admin.send('PUT', `${path}/writer`, { agent_id: other.agentId })
  assert.equal(taken.status, 200, taken.text)

  assert.deepEqual([await shown(), await contested()], [[other.agentId, undefined], 0])
  assert.deepEqual([await cycle(other), await cycle(agent)], [[], [location.id]])
  const events = await world.pool.query(`select facts from audit_event where action = 'agent.take_over'`)
  assert.deepEqual(events.rows, [
    { facts: { agent: { id: other.agentId, name: 'Agent' }, location: { id: location.id, name: 'Location' } } },
  ])
})
