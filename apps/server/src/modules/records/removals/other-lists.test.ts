import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, aSchedule, someWorld, type TestLocation } from '../../../testing/test-world.ts'
import { listHeldRecords, rejectRemoval } from './removal-decision.ts'
import { findCurrentRemoval, listRemovals } from './removal-store.ts'

const keys = Array.from({ length: 30 }, (_, index) => `s${index}`)
const recordsOf = (dataset: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, dataset === 'fee_schedules' ? aSchedule() : aPlan()]))

test('K08: what comes back leaves the list of its own dataset and location, and no other that names the same keys', async (t) => {
  const world = await someWorld(t)
  const locations = [await world.addLocation(), await world.addLocation()] as const
  const datasets = ['insurance_plans', 'fee_schedules'] as const
  for (const location of locations)
    for (const dataset of datasets) {
      assert.equal((await location.upload(dataset, recordsOf(dataset, keys))).status, 200)
      const { body } = await world.sendList(location.agent, location.id, dataset, 10_000_000, [])
      assert.equal(body.code, 'removal_held')
    }
  /** How many records each list names, as it says and as it holds them. */
  const waiting = async ({ id }: TestLocation) => {
    const removals = await listRemovals(world.pool, [id])
    const held = await Promise.all(removals.map((removal) => listHeldRecords(world.pool, removal, 100)))
    return Object.fromEntries(removals.map(({ dataset, remaining }, at) => [dataset, [remaining, held[at]?.length]]))
  }

  assert.equal(
    (await locations[0].upload('insurance_plans', recordsOf('insurance_plans', keys.slice(0, 7)))).status,
    200,
  )

  assert.deepEqual(await waiting(locations[0]), { insurance_plans: [23, 23], fee_schedules: [30, 30] })
  assert.deepEqual(await waiting(locations[1]), { insurance_plans: [30, 30], fee_schedules: [30, 30] })
})

test('K08: a list that a person decided to keep ends with its last record, and one that waits does not', async (t) => {
  const world = await someWorld(t)
  const stateOf = async (location: TestLocation) => {
    const { rows } = await world.pool.query('select state, remaining from removal where location_id = $1', [
      location.id,
    ])
    return rows.map(({ state, remaining }) => [state, Number(remaining)])
  }
  const someList = async () => {
    const location = await world.addLocation()
    await location.upload('insurance_plans', recordsOf('insurance_plans', keys))
    await world.sendList(location.agent, location.id, 'insurance_plans', 10_000_000, [])
    return location
  }
  const back = async (location: TestLocation, from: number, to: number) =>
    await location.upload('insurance_plans', recordsOf('insurance_plans', keys.slice(from, to)))

  const waiting = await someList()
  await back(waiting, 0, 30)
  assert.deepEqual(await stateOf(waiting), [['held', 0]])

  const kept = await someList()
  const key = { locationId: kept.id, dataset: 'insurance_plans' } as const
  const { listHash } = (await findCurrentRemoval(world.pool, key)) ?? assert.fail()
  await rejectRemoval(world.pool, { ...key, listHash, now: new Date() })
  await back(kept, 0, 29)
  assert.deepEqual(await stateOf(kept), [['kept', 1]])
  await back(kept, 29, 30)
  assert.deepEqual(await stateOf(kept), [['dropped', 0]])
})
