import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import type { DatasetName } from '@bridgework/contract'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { someWorld } from '../../testing/test-world.ts'
import { finishReads } from '../datasets/cycle.ts'
import { createActivityCounter } from './counts.ts'
import { activityOf, agentActivityOf } from './plots.ts'
import { createSampler } from './sampler.ts'
import { deleteOldMinutes, servicePlotOf } from './service-minute.ts'
import { deleteOldLocationHours, sumLocationHours } from './store.ts'

const hour = 3_600_000

test('what agents upload and vendors read is counted for each location and hour, and an id that was only tried is not', async (t) => {
  const world = await someWorld(t)
  const [location, other] = [await world.addLocation({ insurancePlans: 3 }), await world.addLocation()]
  const vendor = await world.addVendor([location])
  await vendor.get(`/locations/${location.id}/insurance_plans`)
  await vendor.get(`/locations/${location.id}/insurance_plans?items=x`)
  await vendor.get('/locations/5551234567/patients')
  const headers = { authorization: `Bearer ${location.agent.agentKey}` }
  assert.equal(
    (await world.request(`/ingest/v1/locations/${other.id}/patients/complete_lists`, { method: 'POST', headers }))
      .status >= 400,
    true,
  )
  await world.usage.flush()

  const now = new Date()
  const sum = async (id: LocationId) => {
    const { buckets } = await activityOf(world.pool, [id], '24h', now)
    assert.equal(buckets.length, 24)
    const { at: _at, lag_seconds: _lag, ...counts } = buckets.at(-1) ?? assert.fail('no bucket')
    return counts
  }
  const own = await sum(location.id)
  assert.deepEqual([own.reads, own.records_read, own.read_errors, own.records_changed], [2, 3, 1, 3])
  assert.ok(own.uploads > 0)
  assert.equal((await sum(other.id)).reads, 0)
  assert.deepEqual(await sumLocationHours(world.pool, ['5551234567' as LocationId], new Date(0), 3_600), [])
  const agent = (await agentActivityOf(world.pool, location.agent.agentId, '7d', now)).buckets.at(-1)
  assert.ok(agent && agent.requests > own.uploads && agent.errors === 1)
})

test('hours that cannot be written wait for the next time, and are forgotten after 30 days', async (t) => {
  const { pool } = await createTestDatabase(t)
  const counter = createActivityCounter()
  const at = new Date()
  const ingested = { event: 'records.ingested', locationId: '7' as LocationId, dataset: 'patients', hidden: 1 } as const
  counter.observe({ ...ingested, changed: 4, isRepeated: false, durationMs: 1 }, at)
  counter.observe(
    { ...ingested, changed: 1, isRepeated: false, durationMs: 1 },
    new Date(at.getTime() - 31 * 24 * hour),
  )
  await assert.rejects(counter.write({ query: () => Promise.reject(new Error('away')) } as never))
  counter.observe({ ...ingested, changed: 2, isRepeated: false, durationMs: 1 }, at)
  await counter.write(pool)
  await counter.write(pool)
  await deleteOldLocationHours(pool, ['7' as LocationId])
  const rows = await sumLocationHours(pool, ['7' as LocationId], new Date(0), 3_600)
  assert.deepEqual(
    rows.map((row) => row.records_changed),
    [8],
  )
})

test('each process measures itself; the plot adds what is theirs, and shows the highest lag', async (t) => {
  const world = await someWorld(t)
  const { pool } = world
  const now = new Date(Math.floor(Date.now() / 60_000) * 60_000)
  const backlog = { slots_in_use: 3, database_bytes: 5_000, rerender_waiting: 7, mails_waiting: 1 }
  for (const lagMs of [12, 80]) {
    const load = { lagMs: () => lagMs }
    const sampler = createSampler({
      pool,
      pools: [pool],
      load,
      processId: randomUUID(),
      dir: tmpdir(),
      backlog: async () => backlog,
      now: () => now,
      log: () => {},
    })
    await sampler.sample()
    await sampler.sample()
  }
  const { buckets } = await servicePlotOf(pool, '1h', now)
  assert.equal(buckets.length, 60)
  const {
    at,
    memory_bytes,
    disk_free_bytes,
    connections_max,
    connections_busy: _busy,
    ...rest
  } = buckets.at(-1) ?? assert.fail()
  assert.equal(at, now.toISOString())
  assert.deepEqual(rest, { processes: 2, event_loop_lag_ms: 80, connections_waited_for: 0, ...backlog })
  assert.ok(Number(memory_bytes) > 50_000_000 && Number(disk_free_bytes) > 0)
  assert.equal(connections_max, 2 * pool.options.max)
  assert.equal(buckets[0]?.processes, 0)

  await pool.query(`update service_minute set minute_at = now() - interval '15 days'`)
  await deleteOldMinutes(pool)
  assert.equal((await pool.query('select from service_minute')).rowCount, 0)
})

test('the plot of a location shows how old its copy became: at reads, before them, and since the last one', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const { pool } = world
  const now = new Date(Math.floor(Date.now() / hour) * hour + hour / 2)
  const at = (hours: number) => new Date(now.getTime() - hours * hour)
  const lags = async () => (await activityOf(pool, [location.id], '24h', now)).buckets.map((each) => each.lag_seconds)
  assert.deepEqual(new Set(await lags()), new Set([null]), 'nothing was read')

  const read = (readAt: Date, dataset: DatasetName = 'patients') =>
    finishReads(pool, [{ locationId: location.id, dataset, readAt, isComplete: true }])
  for (const hours of [30, 10, 3]) await read(at(hours))
  const seen = await lags()
  assert.equal(seen[0], Math.round((30 - 22.5) * 3_600), 'since before the range')
  assert.equal(seen.at(-11), 20 * 3_600, 'what was replaced')
  assert.equal(seen.at(-4), 7 * 3_600)
  assert.equal(seen.at(-1), (3 - 0.25) * 3_600, 'since the end of the quarter of an hour of the last read')

  await read(at(40), 'appointments')
  assert.equal((await lags()).at(-1), 40 * 3_600, 'the dataset that is furthest behind')
})
