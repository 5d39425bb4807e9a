import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceProblem } from '../connector.ts'
import { someAgent } from './testing/test-cycle.ts'
import { testPlan } from './testing/test-source.ts'

test('a first cycle sends everything to every location and says that it was complete', async (t) => {
  const agent = await someAgent(t)
  agent.source.locationIds = ['0', '1']
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 6, refused: 0, held: 0 })
  assert.equal(agent.plans('0').size, 3)
  assert.equal(agent.plans('1').size, 3)
  const [here, there] = [...(await agent.server.locations()).values()].map(({ id }) => id)
  assert.deepEqual(
    agent.server.cycles().map(({ locationId, dataset, complete }) => [locationId, dataset, complete]),
    [
      [here, 'fee_schedules', true],
      [there, 'fee_schedules', true],
      [here, 'insurance_plans', true],
      [there, 'insurance_plans', true],
    ],
  )
})

test('a cycle without a change sends no record, and still reports that it read', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  const { uploads } = await agent.server.counts()
  await agent.run()
  assert.equal((await agent.server.counts()).uploads, uploads)
  assert.equal(agent.server.cycles().length, 4)
  assert.equal(agent.server.cycles().at(-1)?.complete, false)
})

test('a row named as changed is dropped when it says the same, and sent when it does not', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.source.changed.insurance_plans = ['1', '2']
  agent.source.content.insurance_plans.set('2', testPlan('2', 'Renamed'))
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 1, refused: 0, held: 0 })
  assert.equal(agent.plans().get('2')?.plan_name, 'Renamed')
  assert.deepEqual(await agent.server.counts(), { uploads: 2, inserted: 3, changed: 1, unchanged: 0, hidden: 0 })
})

test('the order in which a connector puts attributes together changes nothing', async (t) => {
  const agent = await someAgent(t, { plans: 1 })
  await agent.run()
  const { source_id, attributes } = testPlan('1', 'Plan 1')
  agent.source.content.insurance_plans.set('1', {
    source_id,
    attributes: Object.fromEntries(Object.entries(attributes).reverse()),
  })
  assert.deepEqual(await agent.run(true), { result: 'complete', uploaded: 0, refused: 0, held: 0 })
})

test('a row that is gone is hidden by the list of keys, never by a line that removes', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.source.content.insurance_plans.delete('2')
  await agent.run()
  assert.deepEqual([...agent.plans().keys()], ['1', '3'])
  assert.deepEqual(agent.server.lists().at(-1)?.source_ids, ['1', '3'])
  assert.deepEqual(
    agent.named('records.hidden').map((event) => event.hidden),
    [1],
  )
  const reconciles = agent.server.lists().length
  await agent.run()
  assert.equal(agent.server.lists().length, reconciles)

  agent.source.content.insurance_plans.set('2', testPlan('2', 'Plan 2'))
  await agent.run()
  assert.deepEqual([...agent.plans().keys()].sort(), ['1', '2', '3'])
})

test('a mass disappearance waits for a person: it is said at each cycle, and is no failure', async (t) => {
  const agent = await someAgent(t, { plans: 40 })
  await agent.run()
  agent.source.content.insurance_plans.clear()
  for (const expected of [1, 2]) {
    assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 0, refused: 0, held: 1 })
    assert.equal(agent.named('removal.held').length, expected)
    assert.equal(agent.plans().size, 40)
  }
  await agent.server.confirmRemovals()
  await agent.run()
  assert.equal(agent.plans().size, 0)
  assert.equal(agent.named('removal.held').length, 2)
})

test('rows that are back are shown, whether or not someone confirmed their removal meanwhile', async (t) => {
  const agent = await someAgent(t, { plans: 40 })
  await agent.run()
  const content = new Map(agent.source.content.insurance_plans)
  for (const isConfirmed of [false, true]) {
    agent.source.content.insurance_plans.clear()
    await agent.run()
    if (isConfirmed) await agent.server.confirmRemovals()
    for (const [key, plan] of content) agent.source.content.insurance_plans.set(key, plan)
    const reconciles = agent.server.lists().length
    assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 40, refused: 0, held: 0 })
    assert.equal(agent.plans().size, 40)
    // The list goes out once more, so that the server stops waiting; then no more.
    await agent.run()
    assert.equal(agent.server.lists().length, reconciles + 1)
  }
})

test('K09: nothing is sent, hidden or reported as read when the source was not quiet', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.source.content.insurance_plans.delete('1')
  agent.source.content.insurance_plans.set('2', testPlan('2', ''))
  agent.source.changed.insurance_plans = ['2']
  for (const kind of ['update_in_progress', 'version_changed'] as const) {
    let confirmations = 0
    agent.source.confirm = () => {
      // The locations and the fee schedules still pass.
      if (++confirmations > 2) throw new SourceProblem(kind, 'Being updated.', 'Wait.')
    }
    assert.deepEqual(await agent.run(), { result: 'put_off' })
    assert.equal(agent.plans().get('2')?.plan_name, 'Plan 2')
    assert.equal(agent.plans().size, 3)
  }
  assert.equal(agent.named('cycle.put_off').length, 2)
  agent.source.confirm = () => {}
  await agent.run()
  assert.deepEqual(
    [...agent.plans()].map(([id, plan]) => [id, plan.plan_name]),
    [
      ['2', ''],
      ['3', 'Plan 3'],
    ],
  )
})

test('when a full read is called for, every row is compared and only what differs is sent', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.source.content.insurance_plans.set('3', testPlan('3', 'Restored'))
  agent.source.fullBecause = 'restored_backup'
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 1, refused: 0, held: 0 })
  assert.equal(agent.named('dataset.reading').at(-1)?.fully, 'restored_backup')
  assert.equal(agent.server.cycles().at(-1)?.complete, true)
})

test('once a day everything is compared, though nothing seems changed', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.source.content.insurance_plans.set('3', testPlan('3', 'Changed without a stamp'))
  agent.clock.ms += 23 * 3_600_000
  await agent.run()
  assert.equal(agent.plans().get('3')?.plan_name, 'Plan 3')
  agent.clock.ms += 3_600_000
  await agent.run()
  assert.equal(agent.named('dataset.reading').at(-1)?.fully, 'daily')
  assert.equal(agent.plans().get('3')?.plan_name, 'Changed without a stamp')
})

test('a location that appears gets everything, and is reported as complete; one that vanishes is closed, and sent whole when it is back', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.source.locationIds = ['1', '2']
  await agent.run()
  assert.equal(agent.plans('2').size, 3)
  const locations = await agent.server.locations()
  const last = agent.server
    .cycles()
    .slice(-2)
    .map(({ locationId, complete }) => [locationId, complete])
  assert.deepEqual(last, [
    [locations.get('1')?.id, false],
    [locations.get('2')?.id, true],
  ])
  agent.source.locationIds = ['2']
  await agent.run()
  assert.equal((await agent.server.locations()).get('1')?.is_active, false)
  assert.equal(agent.plans('1').size, 3)
  await agent.server.confirmRemovals()
  agent.source.locationIds = ['1', '2']
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 3, refused: 0, held: 0 })
  assert.equal((await agent.server.locations()).get('1')?.is_active, true)
  assert.equal(agent.plans('1').size, 3)
})

test('a dataset that the server cannot take now keeps no other from being read, and the cycle says which it was', async (t) => {
  const agent = await someAgent(t)
  const answer = { status: 503, body: { errors: 'Still running.', code: 'busy' }, headers: { 'retry-after': '5' } }
  agent.server.world.interference = ({ path }) => (/fee_schedules.complete_lists/.test(path) ? answer : undefined)
  const outcome = await agent.run()
  assert.deepEqual(outcome, { result: 'failed', retryAfterMs: 5_000 })
  assert.equal(agent.plans().size, 3)
  assert.deepEqual(
    agent.named('dataset.failed').map(({ dataset, because }) => [dataset, because]),
    [['fee_schedules', 'busy']],
  )
  assert.deepEqual(
    agent.server.cycles().map(({ dataset }) => dataset),
    ['insurance_plans'],
  )
  agent.server.world.interference = undefined
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.server.cycles().at(-2)?.dataset, 'fee_schedules')
})

test('a location that the server no longer knows is reported, and the others go on', async (t) => {
  const agent = await someAgent(t)
  agent.source.locationIds = ['1', '2']
  await agent.run()
  const locationId = (await agent.server.locations()).get('1')?.id
  agent.server.world.interference = ({ path }) =>
    path.includes(`/${locationId}/`)
      ? { status: 404, body: { errors: 'There is no such location.', code: 'location_unknown' } }
      : undefined
  agent.source.changed.insurance_plans = ['1']
  agent.source.content.insurance_plans.set('1', testPlan('1', 'Changed'))
  assert.equal((await agent.run()).result, 'failed')
  assert.equal(agent.plans('2').get('1')?.plan_name, 'Changed')
  assert.ok(
    agent.named('location.skipped').some((event) => event.locationId === locationId && event.because === 'unknown'),
  )
  agent.server.world.interference = undefined
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.plans('1').get('1')?.plan_name, 'Changed')
})

test('an agent whose source cannot be read shows the server that it is there', async (t) => {
  const agent = await someAgent(t)
  agent.source.beginCycle = async () => {
    throw new SourceProblem('unreachable', 'The database does not answer.', 'Start it.')
  }
  assert.deepEqual(await agent.run(), { result: 'failed', retryAfterMs: null })
  const path = '/ingest/v1/agents/self/heartbeats'
  assert.deepEqual(
    agent.server.requests.map((request) => request.path),
    [path, path],
    'at the beginning, and with the reason at the end',
  )
  agent.server.world.interference = () => ({ status: 503, body: {} })
  assert.deepEqual(await agent.run(), { result: 'failed', retryAfterMs: null })
})

test('that the source is busy with other work is said once in a cycle, and how long it took with the progress', async (t) => {
  const agent = await someAgent(t, { plans: 200 })
  const { beginCycle } = agent.source
  let pausedMs = 0
  agent.source.beginCycle = async () => ({
    ...(await beginCycle()),
    pausedMs: () => {
      pausedMs += 1500
      return pausedMs
    },
  })
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.named('source.busy').length, 1)
  assert.deepEqual(
    agent.named('dataset.progress').map((event) => event.pausedMs),
    [1500, 3000, 4500, 6000],
  )
})

test('what a person should know of the source is said, and the cycle goes on', async (t) => {
  const agent = await someAgent(t)
  const { beginCycle } = agent.source
  agent.source.beginCycle = async () => ({ ...(await beginCycle()), advice: () => 'A replica, and far behind.' })
  assert.equal((await agent.run()).result, 'complete')
  assert.deepEqual(
    agent.named('source.advice').map((event) => event.what),
    ['A replica, and far behind.'],
  )
})

test('a dataset whose table cannot be read stops alone, and goes on without a loss when it can', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  const { beginCycle } = agent.source
  const failed = {
    dataset: 'insurance_plans',
    because: 'table_damaged',
    table: 'insplan',
    column: null,
    what: 'Damaged.',
    todo: 'Repair it.',
  } as const
  agent.source.beginCycle = async () => ({
    ...(await beginCycle()),
    // In the middle of a read of which one record came already.
    readRecords: async function* (dataset, keys) {
      if (dataset === 'insurance_plans') {
        yield new Map([['1', [testPlan('1', 'New name')]]])
        throw new SourceProblem('table_damaged', 'Damaged.', 'Repair it.', {
          place: { table: 'insplan', column: null },
        })
      }
      yield* (await beginCycle()).readRecords(dataset, keys)
    },
  })
  agent.source.content.fee_schedules.set('1', {
    source_id: '1',
    attributes: { name: 'Standard', schedule_type: 'standard', is_global: true, is_hidden: false, fees: [] },
  })
  agent.source.content.insurance_plans.delete('2')
  agent.source.changed.insurance_plans = ['1']
  assert.deepEqual(await agent.run(), { result: 'incomplete', failures: [failed] })
  assert.deepEqual(agent.named('dataset.failed'), [{ event: 'dataset.failed', ...failed }])
  assert.deepEqual([agent.visible('1', 'fee_schedules').size, agent.plans().size], [1, 3])
  assert.equal(agent.plans().get('1')?.plan_name, 'New name')

  agent.source.beginCycle = beginCycle
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.plans().size, 2)
})

for (const fails of [false, true]) {
  test(`a comparison learns whether its finds arrived: ${fails ? 'not all' : 'all'} of them`, async (t) => {
    const agent = await someAgent(t)
    const { beginCycle } = agent.source
    const ends: string[][] = []
    agent.source.beginCycle = async () => ({
      ...(await beginCycle()),
      findSilentChanges: async () => (missed) => void ends.push([...missed]),
    })
    // A dataset that the server refuses; the others are read.
    const answer = { status: 503, body: { code: 'unavailable', errors: 'Try again later.' } }
    if (fails) agent.server.world.interference = ({ path }) => (/insurance_plans/.test(path) ? answer : undefined)
    await agent.run()
    assert.deepEqual(ends, [fails ? ['insurance_plans'] : []])
  })
}
