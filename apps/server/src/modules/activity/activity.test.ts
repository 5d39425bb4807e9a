import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { someWorld } from '../../testing/test-world.ts'
import { listLags } from '../overview/sync-health.ts'
import { createActivityCounter } from './counts.ts'
import { activityOf, agentActivityOf } from './plots.ts'
import { createSampler } from './sampler.ts'
import { deleteOldMinutes, servicePlotOf } from './service-minute.ts'
import { deleteOldHours, sumLocationHours } from './store.ts'

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
  await deleteOldHours(pool)
  const rows = await sumLocationHours(pool, ['7' as LocationId], new Date(0), 3_600)
  assert.deepEqual(
    rows.map((row) => row.records_changed),
    [8],
  )
})

test('each process measures itself; the plot adds what is theirs, shows the highest lag, and lags of locations come with it', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  const { pool } = world
  // A minute at which lags are looked at, two hours after the read.
  const now = new Date((Math.floor(Date.now() / hour) + 2) * hour)
  await pool.query(
    `update dataset_state set synced_at = $1, is_provided = dataset = 'insurance_plans' where location_id = $2`,
    [new Date(now.getTime() - 2 * hour), location.id],
  )
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
      lags: (at) => listLags(pool, at),
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
  const activity = await activityOf(pool, [location.id], '24h', now)
  assert.equal(activity.buckets.at(-1)?.lag_seconds, 7_200)

  await pool.query(`update service_minute set minute_at = now() - interval '15 days'`)
  await deleteOldMinutes(pool)
  assert.equal((await pool.query('select from service_minute')).rowCount, 0)
})
