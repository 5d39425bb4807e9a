import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'
import { aPlan, aSchedule } from '../../testing/test-world.ts'
import { freshnessOf, oldestOf } from '../datasets/freshness.ts'
import { formatMicros, nextStamp, watermarkAfter } from '../datasets/stamp.ts'
import { createOrganization } from '../directory/organization.ts'
import { createLocation } from '../onboarding/upsert-locations.ts'
import { findMiscounts } from './testing/test-miscounts.ts'
import { copyRecords } from './testing/test-volume.ts'
import { noLocation } from './write/background-work.ts'
import { rerenderSlice } from './write/rerenderer.ts'
import { takeTurn } from './write/turn.ts'
import { storeUpload } from './write/upload.ts'
import { deleteOldUploads } from './write/upload-store.ts'

const [schedules, plans] = datasetNames as [DatasetName, DatasetName]
const now = () => new Date()
const log = () => {}

async function aLocation(pool: Pool): Promise<LocationId> {
  const organization = await createOrganization(pool, { name: 'Practice' })
  return (await createLocation(pool, organization.id, { sourceId: '0', name: 'Location' })).id
}

let number = 0
function upload(pool: Pool, locationId: LocationId, dataset: DatasetName, records: Record<string, object | null>) {
  number += 1
  const lines = Object.entries(records).map(([sourceId, source]) => ({
    sourceId,
    source: source && JSON.stringify(source),
  }))
  return storeUpload(
    pool,
    { locationId, dataset, agentId: '1' as AgentId, fence: null, number: String(number), bodyHash: '00', lines },
    now,
  )
}

const manyPlans = (from: number, to: number) =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, index) => [`p${from + index}`, aPlan({ fee_schedule_source_id: 's1' })]),
  )

async function scheduleNames(pool: Pool, locationId: LocationId): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; count: number }>(
    `select document::json #>> '{attributes,fee_schedule,data,attributes,name}' as name, count(*)::integer as count
       from record where location_id = $1 and dataset = 'insurance_plans' group by 1`,
    [locationId],
  )
  return Object.fromEntries(rows.map((row) => [row.name, row.count]))
}

test('a rename that alters many plans commits first and reaches them in slices, by whichever process', async (t) => {
  const { pool } = await createTestDatabase(t)
  const locationId = await aLocation(pool)
  await upload(pool, locationId, schedules, { s1: aSchedule({ name: 'Old' }) })
  for (let from = 0; from < 12_000; from += 6_000) await upload(pool, locationId, plans, manyPlans(from, from + 6_000))

  await upload(pool, locationId, schedules, { s1: aSchedule({ name: 'New' }) })
  assert.deepEqual(await scheduleNames(pool, locationId), { Old: 12_000 })
  await rerenderSlice(pool, log)
  assert.deepEqual(await scheduleNames(pool, locationId), { New: 5_000, Old: 7_000 })
  await upload(pool, locationId, schedules, { s1: aSchedule({ name: 'Newer' }) })
  await Promise.all([rerenderSlice(pool, log), rerenderSlice(pool, log)])
  while (await rerenderSlice(pool, log)) {}
  assert.deepEqual(await scheduleNames(pool, locationId), { Newer: 12_000 })
  const { rows } = await pool.query(
    `select count(distinct modified_at)::integer as stamps from record where dataset = 'insurance_plans'`,
  )
  assert.equal(rows[0]?.stamps, 3, 'each slice has a stamp of its own')
  assert.deepEqual(await findMiscounts(pool), [])
})

test('re-rendering gives each location its slice in turn, and work that always fails delays no other', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const locations: LocationId[] = []
  for (let index = 0; index < 3; index++) {
    const locationId = await aLocation(pool)
    locations.push(locationId)
    await upload(pool, locationId, schedules, { s1: aSchedule({ name: 'Old' }) })
    await upload(pool, locationId, plans, { p0: aPlan({ fee_schedule_source_id: 's1' }) })
    await copyRecords(pool, { locationId, dataset: plans }, 12_000)
  }
  for (const locationId of locations) await upload(pool, locationId, schedules, { s1: aSchedule({ name: 'New' }) })
  const [first = assert.fail()] = locations.toSorted((one, other) => Number(one) - Number(other))
  await ownerPool.query(
    `create function fail() returns trigger language plpgsql as $$ begin raise exception 'bad'; end $$`,
  )
  await ownerPool.query(
    `create trigger fail before update on record for each row when (new.location_id = ${first}) execute function fail()`,
  )

  const served: string[] = []
  for (let last: LocationId | null = noLocation; ; ) {
    last = await rerenderSlice(pool, log, last)
    if (last === null) break
    served.push(last)
  }
  const others = locations.filter((id) => id !== first).toSorted((one, other) => Number(one) - Number(other))
  assert.deepEqual(
    served.filter((id) => id !== first),
    [...others, ...others, ...others],
  )
  for (const id of others) assert.deepEqual(await scheduleNames(pool, id), { New: 12_000 })
  assert.deepEqual(await scheduleNames(pool, first), { Old: 12_000 })
  const { rows } = await pool.query('select attempts > 0 as failed, last_error from rerender_work')
  assert.deepEqual(rows, [{ failed: true, last_error: 'P0001' }])

  await ownerPool.query('drop trigger fail on record')
  await pool.query('update rerender_work set next_attempt_at = now()')
  while (await rerenderSlice(pool, log)) {}
  assert.deepEqual(await scheduleNames(pool, first), { New: 12_000 })
})

test('only what a record refers to becomes work', async (t) => {
  const { pool } = await createTestDatabase(t)
  const locationId = await aLocation(pool)
  await upload(pool, locationId, schedules, { s1: aSchedule({ name: 'Old' }) })
  await upload(pool, locationId, plans, { p0: aPlan({ fee_schedule_source_id: 's1' }) })
  await copyRecords(pool, { locationId, dataset: plans }, 5_100)
  const unrelated = Array.from({ length: 50 }, (_, index) => [`other${index}`, aSchedule()])
  await upload(pool, locationId, schedules, { s1: aSchedule({ name: 'New' }), ...Object.fromEntries(unrelated) })
  const { rows } = await pool.query('select target_source_id from rerender_work')
  assert.deepEqual(rows, [{ target_source_id: 's1' }])
})

test('a write that waits too long for its turn gets 503, and nothing is stored', { timeout: 20_000 }, async (t) => {
  const { pool } = await createTestDatabase(t)
  const locationId = await aLocation(pool)
  const { promise: release, resolve: letGo } = Promise.withResolvers<void>()
  const { promise: held, resolve: onHeld } = Promise.withResolvers<void>()
  const holder = takeTurn(pool, locationId, plans, async () => {
    onHeld()
    await release
  })
  await held

  await assert.rejects(upload(pool, locationId, plans, { p1: aPlan() }), (error: unknown) => {
    assert.ok(error instanceof Problem)
    assert.deepEqual([error.code, error.retryAfterSeconds], ['busy', 5])
    return true
  })
  letGo()
  await holder
  const { answer } = await upload(pool, locationId, plans, { p1: aPlan() })
  assert.deepEqual(answer, { inserted: 1, changed: 0, unchanged: 0, hidden: 0 })
})

test('answers to uploads are kept for as long as they are promised, and not longer', async (t) => {
  const { pool } = await createTestDatabase(t)
  const locationId = await aLocation(pool)
  await upload(pool, locationId, plans, { p1: aPlan() })
  await upload(pool, locationId, plans, { p2: aPlan() })

  await deleteOldUploads(pool, [locationId], new Date(Date.now() - 60_000))
  assert.equal((await pool.query('select from upload')).rowCount, 2)
  await deleteOldUploads(pool, [locationId], new Date(Date.now() + 60_000))
  assert.equal((await pool.query('select from upload')).rowCount, 1, 'the last one says which numbers are too late')
})

test('F15: stamps rise whatever the clock does, and a watermark keeps its microseconds', () => {
  assert.equal(nextStamp(5_000_000, 1), 5_000_001)
  assert.equal(nextStamp(5, 1_000), 1_000)
  assert.equal(formatMicros(Date.UTC(2026, 10, 20) * 1000 + 123_007), '2026-11-20T00:00:00.123007Z')
  assert.equal(watermarkAfter(Date.UTC(2026, 10, 20) * 1000 + 1), '2026-11-20T00:05:00.000001Z')
})

test('a copy is as fresh as its last finished read, counted in the location’s office hours', async () => {
  // A Monday, 20:00 in Berlin: closed for an hour.
  const now = new Date('2026-03-02T19:00:00Z')
  const at = (minutesAgo: number) => new Date(now.getTime() - minutesAgo * 60_000)
  const state = (syncedAgo: number, contactAgo: number | null, timeZone: string | null = null, complete = true) =>
    freshnessOf(
      { isProvided: true, syncedAt: at(syncedAgo), initialSyncCompletedAt: complete ? at(9999) : null },
      { timeZone, officeHours: null },
      async () => (contactAgo === null ? null : at(contactAgo)),
      now,
    )
  for (const [syncedAgo, contactAgo, expected] of [
    [0, null, 'current'],
    [15, null, 'current'],
    [16, 0, 'stale'],
    [60, null, 'stale'],
    [61, 60, 'stale'],
    [61, 61, 'disconnected'],
    [61, null, 'disconnected'],
  ] as const) {
    assert.equal(await state(syncedAgo, contactAgo), expected, `${syncedAgo} ${contactAgo}`)
    assert.equal(
      await state(syncedAgo + 60, contactAgo && contactAgo + 60, 'Europe/Berlin'),
      expected,
      `closed since ${syncedAgo}`,
    )
  }
  assert.equal(await state(0, 0, null, false), 'pending')
  const both = oldestOf([
    { isProvided: true, syncedAt: at(5), initialSyncCompletedAt: at(50) },
    { isProvided: true, syncedAt: at(9), initialSyncCompletedAt: at(20) },
    { isProvided: false, syncedAt: null, initialSyncCompletedAt: null },
  ])
  assert.deepEqual(both, { isProvided: true, syncedAt: at(9), initialSyncCompletedAt: at(20) })
  assert.equal(oldestOf([{ isProvided: false, syncedAt: at(5), initialSyncCompletedAt: at(50) }]).isProvided, false)
})
