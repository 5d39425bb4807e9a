import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aPlan, aSchedule, someWorld } from '../../../testing/test-world.ts'
import { confirmRemoval, listHeldOf, listHeldRecords, rejectRemoval, reviewKept } from './removal-decision.ts'
import { findCurrentRemoval, listKept } from './removal-store.ts'

const dataset = 'insurance_plans'

/** A location whose agent found 29 of 30 plans gone, which waits for a person, and what is stored of that. */
async function someHeld(t: TestContext) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const { pool } = world
  const key = { locationId: location.id, dataset } as const
  const sourceIds = Array.from({ length: 30 }, (_, index) => `s${String(index).padStart(2, '0')}`)
  await location.upload(dataset, Object.fromEntries(sourceIds.map((id) => [id, aPlan()])))
  const reconcile = (of = dataset as string) =>
    world.sendList(location.agent, location.id, of, 10_000_000, sourceIds.slice(0, 1))
  assert.equal((await reconcile()).body.code, 'removal_held')
  const held = async () => (await findCurrentRemoval(pool, key)) ?? assert.fail('nothing is held')
  const stored = async () => ({
    held: (await listHeldOf(pool, location.id)).get(dataset)?.missing ?? 0,
    kept: (await listKept(pool, [location.id]))[0]?.remaining ?? 0,
    visible: (await pool.query('select from record where not is_hidden')).rowCount,
  })
  return { ...world, location, key, sourceIds, reconcile, held, stored }
}

const fails = () => Promise.reject(new Error('it cannot be recorded'))

test('R08: a decision about a held removal is made with its record or not at all, and the record has its numbers', async (t) => {
  const { pool, key, held, stored, reconcile } = await someHeld(t)
  const { locationId } = key
  const { listHash } = await held()
  const now = new Date()
  const waiting = await stored()
  assert.deepEqual(waiting, { held: 29, kept: 0, visible: 30 })

  await assert.rejects(confirmRemoval(pool, locationId, dataset, listHash, fails), /cannot be recorded/)
  await assert.rejects(rejectRemoval(pool, { ...key, listHash, now }, fails), /cannot be recorded/)
  assert.deepEqual(await stored(), waiting)
  const recorded: unknown[] = []
  const record = async (_client: unknown, done?: unknown) => void recorded.push(done)
  await rejectRemoval(pool, { ...key, listHash, now }, record)
  const kept = { held: 0, kept: 29, visible: 30 }
  assert.deepEqual(await stored(), kept)

  await assert.rejects(reviewKept(pool, key, fails), /cannot be recorded/)
  assert.deepEqual(await stored(), kept)
  await reviewKept(pool, key, record)
  assert.equal((await reconcile()).body.code, 'removal_held')
  assert.deepEqual(await stored(), waiting)
  const done = await confirmRemoval(pool, locationId, dataset, (await held()).listHash, record)
  assert.deepEqual(done, { hidden: 29, remaining: 0 })
  assert.deepEqual(await stored(), { held: 0, kept: 0, visible: 1 })
  assert.deepEqual(recorded, [{ records: 29 }, undefined, done])

  for (const decide of [
    () => confirmRemoval(pool, locationId, dataset, listHash, record),
    () => rejectRemoval(pool, { ...key, listHash, now }, record),
    () => reviewKept(pool, key, record),
  ])
    await assert.rejects(decide(), { code: 'removal_unknown' })
  assert.equal(recorded.length, 3)
})

test('R08: a decision about another list than the one that is held changes nothing', async (t) => {
  const { pool, key, stored } = await someHeld(t)
  const waiting = await stored()
  for (const decide of [
    () => confirmRemoval(pool, key.locationId, dataset, 'another', fails),
    () => rejectRemoval(pool, { ...key, listHash: 'another', now: new Date() }, fails),
  ])
    await assert.rejects(decide(), {
      code: 'removal_changed',
      errors: 'The list has changed since you saw it. It names 29 records now. Review it again, then decide.',
    })
  await assert.rejects(reviewKept(pool, key, fails), { code: 'removal_unknown' })
  assert.deepEqual(await stored(), waiting)
})

test('R08: a held removal lists what it would hide now, in order, and nothing that has the same keys elsewhere', async (t) => {
  const { pool, addLocation, location, key, sourceIds, reconcile, held } = await someHeld(t)
  const other = await addLocation()
  const schedules = Object.fromEntries(sourceIds.map((id) => [id, aSchedule()]))
  await other.upload(dataset, Object.fromEntries(sourceIds.map((id) => [id, aPlan({ plan_name: 'Of another' })])))
  await location.upload('fee_schedules', schedules)
  assert.equal((await reconcile('fee_schedules')).body.code, 'removal_held')
  // Received since: one is gone already, one is back.
  const back = aPlan({ plan_name: 'Back again' })
  assert.equal((await location.upload(dataset, { s01: null, s03: back })).status, 200)
  const removal = await held()

  const listed = await listHeldRecords(pool, removal, 100)

  const left = sourceIds.slice(2).filter((id) => id !== 's03')
  const { rows } = await pool.query(
    'select source_id, modified_at from record where location_id = $1 and dataset = $2 order by source_id',
    [key.locationId, dataset],
  )
  const stampOf = new Map(rows.map(({ source_id, modified_at }) => [source_id, Number(modified_at)]))
  assert.deepEqual(
    listed,
    left.map((sourceId) => ({
      sourceId,
      source: aPlan(),
      modifiedAtMs: Math.floor((stampOf.get(sourceId) ?? Number.NaN) / 1000),
    })),
  )
  assert.deepEqual(await listHeldRecords(pool, removal, 3), listed.slice(0, 3))
  const waiting = async () => Object.fromEntries(await listHeldOf(pool, key.locationId))
  const plans = { missing: left.length, visible: 30, held_at: removal.heldAt }
  assert.partialDeepStrictEqual(await waiting(), { [dataset]: plans, fee_schedules: { missing: 29, visible: 30 } })
  await pool.query(`update removal set state = 'running' where dataset = 'fee_schedules'`)
  assert.deepEqual(await waiting(), { [dataset]: plans })
})
