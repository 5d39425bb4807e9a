import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { contractNumber, type DatasetName, datasetNames, getDataset, renderingOf } from '@bridgework/contract'
import { withTransaction } from '../../platform/database/pool.ts'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { createOrganization } from '../directory/organization.ts'
import { createLocation } from '../onboarding/upsert-locations.ts'
import { finishReads } from './cycle.ts'
import {
  areInitiallySynced,
  ensureDatasetStates,
  listDatasetStates,
  listEarlierRenderings,
  readLastStamp,
  saveRendering,
  setProvided,
} from './dataset-state.ts'
import { lockDatasetStates } from './writer-lock.ts'

const [first, second] = datasetNames as [DatasetName, DatasetName]

/** Two locations of a practice, and what a finished read of a dataset does. */
async function someLocations(t: TestContext) {
  const { pool } = await createTestDatabase(t)
  const organization = await createOrganization(pool, { name: 'Practice' })
  const make = async (sourceId: string) =>
    (await createLocation(pool, organization.id, { sourceId, name: 'Location' })).id
  const [one, other] = [await make('1'), await make('2')]
  const read = async (locationId: LocationId, dataset: DatasetName, isComplete = true) => {
    await finishReads(pool, [{ locationId, dataset, readAt: new Date(), isComplete }])
  }
  const provided = async (locationId: LocationId) => {
    const states = (await listDatasetStates(pool, [locationId])).get(locationId) ?? new Map()
    return datasetNames.filter((dataset) => states.get(dataset)?.isProvided)
  }
  return { pool, one, other, read, provided }
}

const having = (names: readonly string[] | null) => ({
  datasets: names,
  attributesLacking: {},
  contract: contractNumber,
})

test('locations are synced for the first time when each dataset that they have was read to the end, of all of them', async (t) => {
  const { pool, one, other, read } = await someLocations(t)
  const isSynced = (...ids: LocationId[]) => areInitiallySynced(pool, ids)
  assert.equal(await isSynced(one), false)
  for (const dataset of datasetNames.slice(1)) await read(one, dataset)
  assert.equal(await isSynced(one), false, 'one dataset is still to come')
  await read(one, first, false)
  assert.equal(await isSynced(one), false, 'a part of it')
  await read(one, first)
  assert.equal(await isSynced(one), true)
  assert.equal(await isSynced(one, other), false, 'one location is still to come')
  await setProvided(pool, [other], having([second]))
  assert.equal(await isSynced(one, other), false)
  await read(other, second)
  assert.equal(await isSynced(one, other), true, 'nothing waits for what the source does not have')
})

test('which datasets a source has is noted of the locations that are named, and of no other', async (t) => {
  const { pool, one, other, provided } = await someLocations(t)
  assert.deepEqual(await provided(one), datasetNames)
  await setProvided(pool, [one], having([first, 'of_a_later_contract']))
  assert.deepEqual(await provided(one), [first])
  await setProvided(pool, [one], having([second]))
  assert.deepEqual(await provided(one), [second])
  await setProvided(pool, [], having([]))
  await setProvided(pool, [one], having([second]))
  assert.deepEqual([await provided(one), await provided(other)], [[second], datasetNames])
  await setProvided(pool, [one, other], having([]))
  assert.deepEqual([await provided(one), await provided(other)], [[], []])
  await setProvided(pool, [one], having(null))
  assert.deepEqual([await provided(one), await provided(other)], [datasetNames, []])
})

test('which datasets a source has is noted in the order in which writers lock, so that neither waits for the other', async (t) => {
  const { pool, one, other, provided } = await someLocations(t)
  const inOrder = [one, other].toSorted((a, b) => Number(a) - Number(b))
  const lower = inOrder[0] ?? assert.fail()
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  const noted = await withTransaction(pool, async (writer) => {
    await lockDatasetStates(writer, lower, [first])
    const noting = setProvided(pool, [one, other], having([]))
    while ((await pool.query(waits)).rowCount === 0) await nextTurn()
    // What comes later in the order is free, or this would wait for ever.
    await writer.query('select from dataset_state where dataset <> $1 or location_id <> $2 for update nowait', [
      first,
      lower,
    ])
    return { noting }
  })
  await noted.noting
  assert.deepEqual([await provided(one), await provided(other)], [[], []])
})

test('a location that lacks a dataset gets its state at the next start, with the rendering and the clock of now, and the others keep theirs', async (t) => {
  const { pool, one, other, read } = await someLocations(t)
  const lose = (locationId: LocationId, dataset: DatasetName) =>
    pool.query('delete from dataset_state where location_id = $1 and dataset = $2', [locationId, dataset])
  await lose(one, second)
  await lose(other, first)
  await read(one, first)
  const states = async () => (await pool.query('select * from dataset_state order by location_id, dataset')).rows
  const before = await states()
  const now = Date.now() * 1000

  await ensureDatasetStates(pool, [one])

  const after = await states()
  const added = after.filter(({ location_id, dataset }) => location_id === one && dataset === second)
  assert.deepEqual(
    after.filter((state) => !added.includes(state)),
    before,
  )
  assert.partialDeepStrictEqual(added, [
    { total: '0', visible: '0', is_provided: true, rendering: renderingOf(getDataset(second)) },
  ])
  const stamps = [added[0].first_stamp, added[0].last_stamp].map(Number)
  for (const stamp of stamps) assert.ok(Math.abs(stamp - now) < 60_000_000)
  assert.equal(await readLastStamp(pool, one, second), stamps[1])
  await assert.rejects(readLastStamp(pool, other, first), { code: 'location_unknown' })
  const listed = await listDatasetStates(pool, [one, other])
  assert.deepEqual([...(listed.get(one)?.keys() ?? [])], datasetNames)
  assert.deepEqual([...(listed.get(other)?.keys() ?? [])], datasetNames.slice(1))
})

test('a dataset whose documents were made as an earlier contract had them is listed until it has today’s rendering', async (t) => {
  const { pool, one, other } = await someLocations(t)
  const renderings = async () =>
    (await pool.query('select location_id, dataset, rendering from dataset_state order by location_id, dataset')).rows
  const before = await renderings()
  assert.deepEqual(await listEarlierRenderings(pool, [one, other]), [])
  await pool.query('update dataset_state set rendering = rendering - 1 where dataset = $1', [second])
  const listed = async () =>
    (await listEarlierRenderings(pool, [one, other])).toSorted((a, b) => (a.locationId < b.locationId ? -1 : 1))
  const [lower, higher] = [one, other].toSorted() as [LocationId, LocationId]
  assert.deepEqual(await listed(), [
    { locationId: lower, dataset: second },
    { locationId: higher, dataset: second },
  ])
  await saveRendering(pool, lower, second)
  await saveRendering(pool, higher, first)
  assert.deepEqual(await listed(), [{ locationId: higher, dataset: second }])
  await saveRendering(pool, higher, second)
  assert.deepEqual(await renderings(), before)
  // A later version wrote it: the earlier one that runs again leaves it alone.
  await pool.query('update dataset_state set rendering = rendering + 2')
  assert.deepEqual(await listed(), [])
})
