import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { IngestBodies } from '@bridgework/contract/ingest'
import { beginEpoch } from '../../../server/src/modules/agents/epoch.ts'
import { takeOver } from '../../../server/src/modules/agents/location-writer.ts'
import { SourceProblem } from '../connector.ts'
import { type Heard, runCycle } from './cycle.ts'
import { someAgent } from './testing/test-cycle.ts'
import { testPlan } from './testing/test-source.ts'

/** An agent of one process: what it heard in a cycle, it begins the next one with. */
async function someProcess(t: TestContext, locationIds = ['1']) {
  const agent = await someAgent(t)
  agent.source.locationIds = locationIds
  const heard: Heard = { contact: null }
  const run = async () => {
    const before = agent.server.requests.length
    const outcome = await runCycle(agent.deps(), { heard })
    return { outcome, kinds: agent.server.requests.slice(before).map(({ kind }) => kind) }
  }
  const change = (name: string) => {
    agent.source.content.insurance_plans.set('1', testPlan('1', name))
    agent.source.changed.insurance_plans = ['1']
  }
  const named = async () => (await agent.server.visible('1', 'insurance_plans')).get('1')?.plan_name
  /** The datasets that were confirmed since so many reads were. */
  const confirmedAfter = (reads: number) =>
    agent.server
      .cycles()
      .slice(reads)
      .map(({ dataset }) => dataset)
  const last = (): IngestBodies['heartbeat'] => agent.server.heartbeats().at(-1) ?? assert.fail()
  const synced = async () => {
    const { rows } = await agent.server.service.pool.query<{ synced_at: Date | null; dataset: string }>(
      `select s.dataset, s.synced_at from dataset_state s join location l on l.id = s.location_id
        where l.organization_id = $1 order by s.dataset`,
      [agent.server.organizationId],
    )
    return rows.filter((row) => row.synced_at !== null).map(({ dataset }) => dataset)
  }
  return { agent, run, change, named, last, synced, confirmedAfter }
}

for (const locations of [1, 5]) {
  test(`an idle cycle makes one request, with ${locations} locations`, async (t) => {
    const ids = Array.from({ length: locations }, (_, index) => String(index + 1))
    const { agent, run, last } = await someProcess(t, ids)
    await run()
    for (let cycle = 0; cycle < 3; cycle += 1) {
      assert.deepEqual(await run(), {
        outcome: { result: 'complete', uploaded: 0, refused: 0, held: 0 },
        kinds: ['heartbeats'],
      })
      const confirmed = last().confirmed?.reads.map(({ dataset, location_ids }) => [dataset, location_ids.length])
      assert.deepEqual(confirmed, [
        ['fee_schedules', locations],
        ['insurance_plans', locations],
      ])
    }
    agent.clock.ms += 61 * 60_000
    assert.deepEqual((await run()).kinds, ['heartbeats', 'locations', 'heartbeats'], 'locations once an hour')
  })
}

test('before a change is sent the service is asked again, once', async (t) => {
  const { run, change, named } = await someProcess(t)
  await run()
  change('Changed')
  assert.deepEqual((await run()).kinds, ['heartbeats', 'records', 'heartbeats'])
  assert.equal(await named(), 'Changed')
})

test('what a person decided between two cycles holds before anything is sent', async (t) => {
  const { agent, run, change, named } = await someProcess(t)
  await run()
  const { service, organizationId } = agent.server
  const other = await service.addAgent(organizationId)
  const { id: locationId } = (await agent.server.locations()).get('1') ?? assert.fail()
  await takeOver(service.pool, { locationId, organizationId, agentId: other.agentId })
  change('Of an old copy')
  const { outcome, kinds } = await run()
  assert.equal(outcome.result, 'failed')
  assert.ok(!kinds.includes('records'), String(kinds))
  assert.equal(agent.named('location.written_by_other').length, 1)
  assert.equal(await named(), 'Plan 1')
})

test('a service that was restored between two cycles gets everything that it lost before any later change', async (t) => {
  const { agent, run, change, named } = await someProcess(t)
  await run()
  // The restored database lacks two plans.
  const { pool } = agent.server.service
  await pool.query(`delete from record_reference; delete from record where source_id in ('2', '3')`)
  await beginEpoch(pool, Date.now() * 1000)
  change('Changed')
  assert.equal((await run()).outcome.result, 'complete')
  assert.equal(await named(), 'Changed')
  assert.equal((await agent.server.visible('1', 'insurance_plans')).size, 3)
  assert.deepEqual(agent.named('state.behind').at(-1)?.because, 'service_restored')
})

test('what is read while the service is restored is not confirmed, and is read again', async (t) => {
  const { agent, run, last } = await someProcess(t)
  await run()
  const { pool } = agent.server.service
  const { rows } = await pool.query(`update dataset_state set synced_at = '2020-01-01' returning dataset`)
  assert.ok(rows.length > 0)
  const { findChanges } = await agent.source.beginCycle()
  const { beginCycle } = agent.source
  let isRestored = false
  agent.source.beginCycle = async () => ({
    ...(await beginCycle()),
    findChanges: async (...asked) => {
      if (!isRestored) await beginEpoch(pool, Date.now() * 1000)
      isRestored = true
      return findChanges(...asked)
    },
  })
  assert.equal((await run()).outcome.result, 'failed')
  assert.ok((last().confirmed?.reads.length ?? 0) > 0)
  const state = await pool.query(`select from dataset_state where synced_at > '2020-01-01'`)
  assert.equal(state.rowCount, 0)
  assert.equal((await run()).outcome.result, 'complete')
  assert.equal((await pool.query(`select from dataset_state where synced_at > '2020-01-01'`)).rowCount, 2)
})

test('after a crash between the last upload and the heartbeat the first read is confirmed as complete in the next cycle', async (t) => {
  const { agent, run, synced } = await someProcess(t)
  let isDown = false
  agent.server.world.interference = ({ kind }) => {
    isDown ||= kind === 'finish'
    return isDown && kind === 'heartbeats' ? { status: 503, body: {} } : undefined
  }
  assert.equal((await run()).outcome.result, 'failed')
  assert.deepEqual(await synced(), [])
  agent.restart()
  agent.server.world.interference = undefined
  assert.equal((await run()).outcome.result, 'complete')
  assert.deepEqual(
    agent.server
      .cycles()
      .slice(-2)
      .map(({ dataset, complete }) => [dataset, complete]),
    [
      ['fee_schedules', true],
      ['insurance_plans', true],
    ],
  )
  assert.deepEqual(await synced(), ['fee_schedules', 'insurance_plans'])
})

test('a dataset of which an upload was lost is not confirmed, and the others are', async (t) => {
  const { agent, run, change, last, confirmedAfter } = await someProcess(t)
  await run()
  const before = agent.server.cycles().length
  change('Changed')
  agent.server.world.interference = ({ path }) =>
    /insurance_plans.records/.test(path) ? { status: 503, body: { errors: 'e', code: 'busy' } } : undefined
  assert.equal((await run()).outcome.result, 'failed')
  assert.deepEqual(confirmedAfter(before), ['fee_schedules'])
  assert.deepEqual([last().state, last().problems], ['failing', [{ code: 'service_busy', dataset: 'insurance_plans' }]])
  agent.server.world.interference = undefined
  assert.equal((await run()).outcome.result, 'complete')
  assert.deepEqual([last().state, last().problems], ['idle', []])
})

test('a cycle that the service stops confirms what was finished before', async (t) => {
  const { agent, run, synced, last } = await someProcess(t)
  const answer = { status: 503, body: { errors: 'e', code: 'busy' }, headers: { 'retry-after': '3600' } }
  agent.server.world.interference = ({ path }) => (/insurance_plans.records/.test(path) ? answer : undefined)
  assert.deepEqual((await run()).outcome, { result: 'failed', retryAfterMs: 3_600_000 })
  assert.deepEqual(await synced(), ['fee_schedules'])
  assert.deepEqual([last().state, last().problems], ['failing', undefined])
})

test('a dataset of which something is to be read again is not confirmed', async (t) => {
  const { agent, run, confirmedAfter } = await someProcess(t)
  await run()
  const { locations } = agent.server
  const locationId = (await locations()).get('1')?.id ?? assert.fail()
  const before = agent.server.cycles().length
  // Three rounds let go of the same record again and again.
  const { state } = agent.deps()
  const clearRechecks = t.mock.method(state, 'clearRechecks', () => {})
  state.mistrust(locationId, 'insurance_plans', ['2'])
  await run()
  assert.deepEqual(confirmedAfter(before), ['fee_schedules'])
  clearRechecks.mock.restore()
  await run()
  assert.deepEqual(confirmedAfter(before + 1), ['fee_schedules', 'insurance_plans'])
})

test('each reason reaches the service as a code, with table and column where they are identifiers, and never as text', async (t) => {
  const { agent, run, last } = await someProcess(t)
  await run()
  const { beginCycle } = agent.source
  const whole = new SourceProblem('access_denied', 'The database refuses Anna Smith.', 'Ask Anna.')
  agent.source.beginCycle = async () => {
    throw whole
  }
  await run()
  assert.deepEqual([last().state, last().problems], ['failing', [{ code: 'access_denied' }]])

  const places = [
    [
      { table: 'insplan', column: 'GroupNum' },
      { table: 'insplan', column: 'GroupNum' },
    ],
    [{ table: 'insplan', column: null }, { table: 'insplan' }],
    [{ table: "insplan where LName = 'Smith'", column: 'LName' }, {}],
  ] as const
  for (const [place, said] of places) {
    const problem = new SourceProblem('rights_missing', 'May not read what Smith has.', 'Grant it.', { place })
    agent.source.beginCycle = async () => ({
      ...(await beginCycle()),
      problemOf: async (dataset) => (dataset === 'insurance_plans' ? problem : null),
    })
    assert.equal((await run()).outcome.result, 'incomplete')
    assert.deepEqual(last().problems, [{ code: 'rights_missing', dataset: 'insurance_plans', ...said }])
    assert.deepEqual(
      last().confirmed?.reads.map(({ dataset }) => dataset),
      ['fee_schedules'],
    )
  }
  for (const { body } of agent.server.requests) assert.doesNotMatch(body, /Smith|Anna/)
  agent.source.beginCycle = beginCycle
  await run()
  assert.deepEqual(last().problems, [])
})

test('notes that are granted and kept in the office are a reason of each dataset', async (t) => {
  const { agent, last } = await someProcess(t)
  await runCycle(agent.deps())
  await agent.server.grantNotes()
  const connector = { ...agent.source, datasets: ['appointments', 'insurance_plans'] as const }
  await runCycle({ ...agent.deps(), connector, sendNotes: false })
  assert.deepEqual(last().problems, [{ code: 'notes_not_sent', dataset: 'appointments' }])
  await runCycle({ ...agent.deps(), connector })
  assert.deepEqual(last().problems, [])
})

test('a damaged state file that was set aside is said until a cycle has compared everything', async (t) => {
  const { agent, run, last } = await someProcess(t)
  const deps = agent.deps
  agent.deps = () => ({ ...deps(), state: { ...deps().state, setAside: '/state.sqlite.damaged' } })
  await run()
  assert.deepEqual(last().problems, [{ code: 'state_set_aside' }])
  await run()
  assert.deepEqual(last().problems, [])
})

test('a long read says every quarter of a minute how far it is, and confirms what is finished', async (t) => {
  const agent = await someAgent(t, { plans: 500, linesMax: 50 })
  const deps = agent.deps()
  const interference = ({ kind }: { kind: string }) => {
    if (kind === 'records') agent.clock.ms += 6_000
    return undefined
  }
  agent.server.world.interference = interference
  await runCycle({ ...deps, freeBytes: () => 1_000_000 })
  const between = agent.server.heartbeats().slice(1, -1)
  assert.deepEqual(
    between.map(({ reading, problems, disk_free_bytes: free }) => [
      reading?.dataset,
      reading?.rows_read,
      problems,
      free,
    ]),
    [150, 300, 450].map((rows) => ['insurance_plans', rows, undefined, 1_000_000]),
  )
  assert.ok(between.every(({ reading }) => reading?.rows_total === 500))
  assert.deepEqual(
    between[0]?.confirmed?.reads.map(({ dataset }) => dataset),
    ['fee_schedules'],
  )
  assert.equal(agent.server.heartbeats().at(-1)?.reading, null)
})
