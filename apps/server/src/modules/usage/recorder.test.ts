import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { CompanyId, KeyPairId } from '../../platform/identity/identity.ts'
import type { LogEvent } from '../../platform/log/log-event.ts'
import { someWorld } from '../../testing/test-world.ts'
import { percentileMs } from './durations.ts'
import { createUsageRecorder } from './recorder.ts'
import { lastUsesOf, sumUsage, trimUsage } from './store.ts'
import { allOf } from './testing/test-requests.ts'

const start = new Date('2026-11-20T10:00:00Z')
const day = 24 * 60 * 60_000

function answered(companyId: CompanyId, more: object = {}): LogEvent {
  return {
    event: 'request.answered',
    requestId: randomUUID(),
    method: 'GET',
    route: '/api/v1/vendors/locations/:location_id/patients',
    status: 200,
    durationMs: 12.3,
    companyId,
    ...more,
  }
}

test('what a company asks for is counted: requests, records, refusals for haste and errors, and a path is kept as its pattern', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  await world.request('/api/v1/vendors/auth/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: vendor.clientId, client_secret: vendor.clientSecret }),
  })
  const page = await vendor.get(`/locations/${location.id}/insurance_plans`)
  await vendor.get(`/locations/${location.id}/insurance_plans/${page.body.data[0]?.id}`)
  await vendor.get(`/locations/${location.id}/patients?Smith=1`)
  await vendor.get('/locations/5551234567/patients')
  await vendor.get('/no/such/Smith')
  await world.usage.flush()

  const [bucket] = await sumUsage(world.pool, vendor.companyId, new Date(0), 86_400)
  assert.deepEqual(countsOf(bucket), { requests: 6, records: 4, throttled: 0, errors: 3 })
  const kept = await allOf(world.pool, vendor.companyId)
  assert.deepEqual(
    kept.map((each) => [each.method, each.route, each.locationId, each.status, each.code, each.records]),
    [
      ['GET', '(unknown)', null, 404, 'route_unknown', 0],
      ['GET', '/locations/:location_id/patients', null, 404, 'location_unknown', 0],
      ['GET', '/locations/:location_id/patients', location.id, 422, 'parameter_invalid', 0],
      ['GET', '/locations/:location_id/insurance_plans/:id', location.id, 200, null, 1],
      ['GET', '/locations/:location_id/insurance_plans', location.id, 200, null, 3],
      ['POST', '/auth/token', null, 200, null, 0],
    ],
  )
  assert.equal(kept[4]?.requestId, page.body.meta.request_id)
})

test('several processes add to the same counts, and a bucket is five minutes', async (t) => {
  const { pool } = await createTestDatabase(t)
  const company = randomUUID() as CompanyId
  const clock = { now: start }
  const recorders = [0, 1].map(() => createUsageRecorder({ pool, log: () => {}, now: () => clock.now }))
  for (const recorder of recorders) {
    recorder.observe(answered(company, { records: 5 }))
    recorder.observe(answered(company, { status: 429 }))
  }
  await Promise.all(recorders.map((recorder) => recorder.flush()))
  clock.now = new Date(start.getTime() + 300_000)
  recorders[0]?.observe(answered(company, { status: 503 }))
  await recorders[0]?.stop()

  assert.deepEqual(
    (await sumUsage(pool, company, start, 300)).map((bucket) => [bucket.at.toISOString(), countsOf(bucket)]),
    [
      ['2026-11-20T10:00:00.000Z', { requests: 4, records: 10, throttled: 2, errors: 0 }],
      ['2026-11-20T10:05:00.000Z', { requests: 1, records: 0, throttled: 0, errors: 1 }],
    ],
  )
})

test('while the database is away nothing fails, little is kept, it is said once, and what was kept is written afterwards', async (t) => {
  const { pool } = await createTestDatabase(t)
  const company = randomUUID() as CompanyId
  const events: LogEvent[] = []
  let isAway = true
  const query = (...args: Parameters<typeof pool.query>) =>
    isAway ? Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })) : pool.query(...args)
  const recorder = createUsageRecorder({
    pool: { query: query as typeof pool.query },
    log: (event) => events.push(event),
    now: () => start,
    waitingMax: 50,
  })
  for (let index = 0; index < 250; index += 1) recorder.observe(answered(company, { requestId: String(index) }))
  await recorder.flush()
  for (let index = 0; index < 200; index += 1) recorder.observe(answered(randomUUID() as CompanyId))
  await recorder.flush()
  isAway = false
  recorder.observe(answered(company, { requestId: 'last' }))
  await recorder.flush()

  const { rows } = await pool.query<{ companies: string; requests: string }>(
    'select count(*) as companies, sum(requests) as requests from vendor_usage',
  )
  assert.deepEqual(rows, [{ companies: '50', requests: '300' }])
  const kept = await allOf(pool, company)
  assert.deepEqual([kept.length, kept[0]?.requestId, kept.at(-1)?.requestId], [200, 'last', '51'])
  assert.equal(
    events.filter((event) => event.event === 'task.failed').length,
    1,
    'an outage of many seconds is one line of log',
  )
})

test('a key pair’s last use is that of its last token, and at most a minute behind its last request', async (t) => {
  const { pool } = await createTestDatabase(t)
  const [company, pair] = [randomUUID() as CompanyId, randomUUID() as KeyPairId]
  const clock = { now: start }
  const recorder = createUsageRecorder({ pool, log: () => {}, now: () => clock.now })
  const useAfter = async (seconds: number, more: object) => {
    clock.now = new Date(start.getTime() + seconds * 1000)
    recorder.observe(answered(company, { keyPairId: pair, ...more }))
    await recorder.flush()
    const at = (await lastUsesOf(pool, [pair])).get(pair)
    return at && (at.getTime() - start.getTime()) / 1000
  }
  assert.equal(await useAfter(0, {}), 0)
  assert.equal(await useAfter(59, {}), 0)
  assert.equal(await useAfter(60, {}), 60)
  assert.equal(await useAfter(70, { route: '/api/v1/vendors/auth/token' }), 70)
  assert.equal(await useAfter(900, { status: 401 }), 70, 'a refused token is no use')
})

test('counts are kept for 90 days', async (t) => {
  const { pool } = await createTestDatabase(t)
  const company = randomUUID() as CompanyId
  const clock = { now: start }
  const recorder = createUsageRecorder({ pool, log: () => {}, now: () => clock.now })
  recorder.observe(answered(company))
  clock.now = new Date(start.getTime() + 91 * day)
  recorder.observe(answered(company))
  await recorder.flush()
  await trimUsage(pool, clock.now)
  assert.equal((await sumUsage(pool, company, new Date(0), 300)).length, 1)
})

test('percentiles are those of all requests of a bucket, whichever process answered them and when', async (t) => {
  const { pool } = await createTestDatabase(t)
  const company = randomUUID() as CompanyId
  const clock = { now: start }
  const recorders = [0, 1].map(() => createUsageRecorder({ pool, log: () => {}, now: () => clock.now }))
  const durations = Array.from({ length: 2_000 }, (_, index) => 0.5 + ((index * 7) % 2_000) + index / 10_000)
  for (const [index, durationMs] of durations.entries()) {
    clock.now = new Date(start.getTime() + (index % 4) * 300_000)
    recorders[index % 2]?.observe(answered(company, { durationMs }))
    if (index === 1_000) await recorders[0]?.flush()
  }
  for (const recorder of recorders) await recorder.stop()

  const [bucket, ...others] = await sumUsage(pool, company, start, 3_600)
  assert.equal(others.length, 0)
  const sorted = durations.toSorted((left, right) => left - right)
  for (const share of [0.5, 0.95, 0.99, 1]) {
    const [estimate, exact] = [percentileMs(bucket?.numbers.durations ?? [], share), sorted[2_000 * share - 1] ?? 0]
    assert.ok(
      estimate !== null && estimate / exact < 1.42 && exact / estimate < 1.42,
      `${share}: ${estimate}, ${exact}`,
    )
  }
})

function countsOf(bucket: Awaited<ReturnType<typeof sumUsage>>[number] | undefined): object {
  const { durations: _durations, ...counts } = bucket?.numbers ?? {}
  return counts
}
