import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import type { AgentId } from '../../../platform/identity/identity.ts'
import { aPlan, aSchedule } from '../../../testing/test-world.ts'
import { createOrganization } from '../../directory/organization.ts'
import { createLocation } from '../../onboarding/upsert-locations.ts'
import { findMiscounts } from '../testing/test-miscounts.ts'
import { rerenderSlice } from './rerenderer.ts'
import { storeUpload } from './upload.ts'

const [schedules, plans] = datasetNames as [DatasetName, DatasetName]

/** A location with this many schedules, each of a few plans, which all were renamed: each is a row of work. */
async function someRenamed(t: TestContext, count: number, plansOf: (schedule: number) => number) {
  const { pool, ownerPool } = await createTestDatabase(t)
  const organization = await createOrganization(pool, { name: 'Practice' })
  const { id: locationId } = await createLocation(pool, organization.id, { sourceId: '0', name: 'Location' })
  let number = 0
  const upload = async (dataset: DatasetName, records: [string, object][]) => {
    for (let from = 0; from < records.length; from += 5_000) {
      number += 1
      const part = records.slice(from, from + 5_000)
      const lines = part.map(([sourceId, source]) => ({ sourceId, source: JSON.stringify(source) }))
      const by = { agentId: '1' as AgentId, fence: null, number: String(number), bodyHash: '00' }
      await storeUpload(pool, { locationId, dataset, ...by, lines }, () => new Date())
    }
  }
  const all = Array.from({ length: count }, (_, index) => index)
  await upload(
    schedules,
    all.map((index) => [`s${index}`, aSchedule({ name: `Old ${index}` })]),
  )
  const of = (index: number) =>
    Array.from({ length: plansOf(index) }, (_, each) => [`p${index}.${each}`, index] as const)
  await upload(
    plans,
    all.flatMap(of).map(([key, index]) => [key, aPlan({ fee_schedule_source_id: `s${index}` })]),
  )
  // As renames of single schedules write it when many plans refer to each: here each has few.
  await ownerPool.query(
    `update record set source = replace(source, '"name":"Old ', '"name":"New '), document = replace(document, '"name":"Old ', '"name":"New ')
      where dataset = $1`,
    [schedules],
  )
  await pool.query(
    `insert into rerender_work (location_id, target_dataset, target_source_id, dataset)
     select $1, $2, 's' || n, $3 from generate_series(0, $4::integer - 1) n`,
    [locationId, schedules, plans, count],
  )
  const outdated = async () => {
    const { rows } = await pool.query<{ source_id: string }>(
      `select source_id from record where dataset = $1 and document like '%"name":"Old %'`,
      [plans],
    )
    return rows.map((row) => row.source_id)
  }
  const waiting = async () => (await pool.query('select from rerender_work')).rowCount
  const work = async () => {
    let slices = 0
    while ((await rerenderSlice(pool, () => {})) !== null) slices += 1
    return slices
  }
  return { pool, ownerPool, outdated, waiting, work }
}

test('5,000 rows of work of a few records each are done in a few slices of 5,000 records', async (t) => {
  const { pool, outdated, waiting, work } = await someRenamed(t, 5_000, (index) => index % 4)
  assert.equal((await outdated()).length, 7_500)
  const begun = performance.now()
  const slices = await work()
  t.diagnostic(`${slices} slices, ${Math.round(performance.now() - begun)} ms`)
  assert.deepEqual([await outdated(), await waiting()], [[], 0])
  assert.ok(slices <= 4, `${slices} slices`)
  assert.deepEqual(await findMiscounts(pool), [])
})

test('a target of more records than a slice goes on where it was, with small ones before and behind it', async (t) => {
  const { outdated, waiting, work } = await someRenamed(t, 40, (index) => (index === 7 ? 11_000 : 2))
  await work()
  assert.deepEqual([await outdated(), await waiting()], [[], 0])
})

test('a slice that breaks off leaves all of its work, which is done the next time', async (t) => {
  const { pool, ownerPool, outdated, waiting, work } = await someRenamed(t, 60, () => 2)
  await ownerPool.query(
    `create function fail() returns trigger language plpgsql as $$ begin raise exception 'cut'; end $$;
     create trigger fail before delete on rerender_work for each row when (old.target_source_id = 's30') execute function fail()`,
  )
  assert.equal(await work(), 1)
  assert.deepEqual([(await outdated()).length, await waiting()], [120, 60], 'nothing of it is there')
  await ownerPool.query('drop trigger fail on rerender_work')
  await pool.query('update rerender_work set next_attempt_at = now()')
  await work()
  assert.deepEqual([await outdated(), await waiting()], [[], 0])
})

test('one record that always fails is alone at last, and delays no other for ever', async (t) => {
  const { pool, ownerPool, outdated, work } = await someRenamed(t, 100, () => 2)
  await ownerPool.query(
    `create function fail() returns trigger language plpgsql as $$ begin raise exception 'bad'; end $$;
     create trigger fail before update on record for each row when (new.source_id = 'p55.1') execute function fail()`,
  )
  for (let round = 0; round < 8; round += 1) {
    await work()
    await pool.query('update rerender_work set next_attempt_at = now()')
  }
  assert.deepEqual((await outdated()).toSorted(), ['p55.0', 'p55.1'])
  const { rows } = await pool.query('select target_source_id, last_error from rerender_work')
  assert.deepEqual(rows, [{ target_source_id: 's55', last_error: 'P0001' }])
})

test('work does not wait for a clock that went back, whether it is new or was tried before', async (t) => {
  const { pool, outdated, work } = await someRenamed(t, 4, () => 1)
  // As it was written while the clock was two hours ahead.
  await pool.query(
    `update rerender_work set created_at = now() + interval '2 hours',
            attempts = substr(target_source_id, 2)::integer * 10,
            next_attempt_at = now() + interval '2 hours' + substr(target_source_id, 2)::integer * interval '3 minutes'`,
  )
  await work()
  assert.deepEqual(await outdated(), [])
})

test('work that failed waits as long as it is to', async (t) => {
  const { pool, work } = await someRenamed(t, 4, () => 1)
  for (const [attempts, waits] of [
    [5, '16 seconds'],
    [9, '256 seconds'],
    [30, '10 minutes'],
  ]) {
    await pool.query('update rerender_work set attempts = $1, next_attempt_at = now() + $2::interval', [
      attempts,
      waits,
    ])
    assert.equal(await work(), 0, `after ${attempts}`)
  }
})
