import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withTransaction } from '../../../platform/database/pool.ts'
import { aPlan, someWorld, type TestScope } from '../../../testing/test-world.ts'
import { eraseTenant } from '../../leaving/erase.ts'
import { forgetAllSegments } from '../write/segment-state.ts'
import { measureDue } from './segment-due.ts'
import { type PackOptions, packNext } from './segment-packer.ts'

const key = { dataset: 'insurance_plans' } as const
const minute = { checkMs: 60_000, staleMs: 60_000 }

test('nothing is due where nothing changed; a change is due at once, and what is left of it later', async (t) => {
  const { world, location, pack, packAll, due } = await someDue(t)
  await location.upload('insurance_plans', plans(7))
  assert.deepEqual(await due(), ['now'])
  await packAll()
  assert.deepEqual(await due(), [], 'all is packed')
  assert.equal(await pack(minute), null)

  await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Changed' }) })
  await packAll(minute)
  assert.deepEqual(await due(), ['later'], 'the changed segment is packed again in a minute')
  await location.upload('insurance_plans', { p2: aPlan({ plan_name: 'Changed' }) })
  assert.deepEqual(await due(), ['later'], 'a change in between waits for it')
  await world.pool.query('update segment_due set due_at = now()')
  await packAll({ checkMs: 0, staleMs: 0 })
  assert.deepEqual(await due(), [])
})

test('a change that was stored while its dataset was packed stays due, whether its turn has ended or not', async (t) => {
  const { world, location, pack, packAll, due } = await someDue(t)
  await location.upload('insurance_plans', plans(3))
  await packAll()
  await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Changed' }) })
  await withTransaction(world.pool, async (client) => {
    // As in a turn that found the row, and has not ended.
    await client.query('select from dataset_state where location_id = $1 and dataset = $2 for update', [
      location.id,
      key.dataset,
    ])
    await pack({ checkMs: 60_000, staleMs: 0 })
    assert.deepEqual(await due(), ['later'])
  })
  await world.pool.query('update segment_due set due_at = now()')
  await packAll({ checkMs: 0, staleMs: 0 })
  assert.deepEqual(await due(), [])

  // The turn ended after the packer had looked, before it was done.
  await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Again' }) })
  const changed = { done: false }
  await packNext(world.pool, () => {}, {
    rest: async () => {
      if (changed.done) return
      changed.done = true
      await location.upload('insurance_plans', { p2: aPlan({ plan_name: 'Meanwhile' }) })
    },
    options: { checkMs: 60_000, staleMs: 0, runRecords: 3 },
  })
  assert.deepEqual([changed.done, await due()], [true, ['later']])
})

test('segments that are forgotten while they are packed are due again', async (t) => {
  const { world, location, due } = await someDue(t)
  await location.upload('insurance_plans', plans(3))
  await packNext(world.pool, () => {}, {
    rest: async () =>
      await withTransaction(world.pool, (client) => forgetAllSegments(client, { ...key, locationId: location.id })),
    options: { ...minute, runRecords: 3 },
  })
  assert.deepEqual(await due(), ['now'])
})

test('after a crash of the database, which empties these tables, every dataset with enough records is found again, some locations at a time', async (t) => {
  const { world, location, packAll, due } = await someDue(t)
  const other = await world.addLocation({ insurancePlans: 2 })
  await location.upload('insurance_plans', plans(3))
  await packAll()
  await world.ownerPool.query('truncate segment, segment_state, segment_due, segment_search')
  await packAll()
  const { rows } = await world.pool.query('select location_id, records from segment')
  assert.deepEqual(rows, [{ location_id: location.id, records: 3 }])
  assert.deepEqual(await due(), [])
  const { rows: searched } = await world.pool.query('select searched_to from segment_search')
  assert.deepEqual(searched, [{ searched_to: null }])
  assert.equal((await world.pool.query('select from segment where location_id = $1', [other.id])).rowCount, 0)
})

test('what is due of an erased practice is forgotten', async (t) => {
  const { world, location, pack, due } = await someDue(t)
  await location.upload('insurance_plans', plans(3))
  const deps = { pool: world.pool, signal: new AbortController().signal, onDeleted: () => {}, lateMs: 0 }
  await eraseTenant(deps, { side: 'organization', id: location.organizationId }, 'test')
  assert.deepEqual(await due(), [])
  // As another process adds it that looked before.
  await world.pool.query(`insert into segment_due values ($1, 'insurance_plans', now())`, [location.id])
  await pack(minute)
  assert.deepEqual(await due(), [])
  assert.equal((await world.pool.query('select from segment_state')).rowCount, 0)
})

test('metrics tell how many datasets wait, and for how long', async (t) => {
  const { world, location } = await someDue(t)
  assert.deepEqual(await measureDue(world.pool), { datasets: 0, seconds: 0 })
  await location.upload('insurance_plans', plans(3))
  await world.pool.query(`update segment_due set due_at = now() - interval '40 seconds'`)
  const { datasets, seconds } = await measureDue(world.pool)
  assert.equal(datasets, 1)
  assert.ok(seconds > 39 && seconds < 100)
})

function plans(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index + 1}`, aPlan()]))
}

/** A location without records, where three records are a segment, and a service that has searched for datasets. */
async function someDue(t: TestScope) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const pack = (options: Partial<PackOptions> = {}) =>
    packNext(world.pool, () => {}, { options: { checkMs: 0, staleMs: 0, runRecords: 3, ...options } })
  const packAll = async (options: Partial<PackOptions> = {}) => {
    for (let count = 0; (await pack(options)) !== null; count += 1) assert.ok(count < 20)
  }
  await packAll()
  const due = async () => {
    const { rows } = await world.pool.query<{ is_due: boolean }>('select due_at <= now() as is_due from segment_due')
    return rows.map((row) => (row.is_due ? 'now' : 'later'))
  }
  return { world, location, pack, packAll, due }
}
