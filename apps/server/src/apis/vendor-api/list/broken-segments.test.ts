import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { packNext } from '../../../modules/records/segments/segment-packer.ts'
import { aPlan, someWorld } from '../../../testing/test-world.ts'

/** 1,020 plans in four segments of 250, and what a vendor reads of them page by page. */
async function someSegments(t: TestContext) {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1_020 })
  const vendor = await world.addVendor([location])
  const pack = async (changed = {}) => {
    const options = { checkMs: 0, staleMs: 60_000, runRecords: 250, ...changed }
    for (let turn = 0; turn < 20; turn += 1) if ((await packNext(world.pool, world.log, { options })) === null) return
  }
  const walk = async (items: number) => {
    const found: string[] = []
    for (let after: string | null = '0'; after !== null; ) {
      const list: string = `/locations/${location.id}/insurance_plans?items=${items}&after=${after}`
      const { body, status, text } = await vendor.get(list)
      assert.equal(status, 200, text)
      found.push(...body.data.map(({ attributes }) => String(attributes.source_id)))
      after = body.meta.next_after
    }
    return found
  }
  const segments = async () => {
    const { rows } = await world.pool.query<{ after_id: string; last_id: string; records: number }>(
      'select after_id, last_id, records from segment order by last_id',
    )
    return rows
  }
  const alarms = () => world.events.filter(({ event }) => event === 'segments.broken').length
  await pack()
  assert.equal((await segments()).length, 4)
  return { world, location, pack, walk, segments, alarms }
}

/** Each on the third segment: what an error in the service, or another program, could leave. */
const faults = {
  'it is missing': 'delete from segment where last_id = $1',
  'it begins before the end of the one before it': 'update segment set after_id = after_id - 3 where last_id = $1',
  'it begins after the end of the one before it': 'update segment set after_id = after_id + 3 where last_id = $1',
  'it has fewer records than a segment has': 'update segment set records = records - 1 where last_id = $1',
  'it has more records than a segment has': 'update segment set records = records + 1 where last_id = $1',
  'the one before it ends later': `update segment set last_id = last_id + 2
    where last_id = (select after_id from segment where last_id = $1)`,
} as const

for (const [fault, statement] of Object.entries(faults)) {
  test(`pages are right though of a segment ${fault}; it is told once, and packed again`, async (t) => {
    const { world, pack, walk, segments, alarms } = await someSegments(t)
    const expected = Array.from({ length: 1_020 }, (_, index) => `p${index + 1}`)
    const whole = await segments()
    await world.ownerPool.query(statement, [whole[2]?.last_id])

    for (const items of [5_000, 600, 300, 5_000]) assert.deepEqual(await walk(items), expected, `${items} a page`)
    assert.equal(alarms(), 1)
    await pack()
    assert.deepEqual(await segments(), whole)
    assert.equal(alarms(), 2, 'once where it was read, once where it was mended')
    assert.deepEqual(await walk(5_000), expected)
    assert.equal(alarms(), 2)
  })
}

test('a first segment that does not begin with the first record is not sent', async (t) => {
  const { world, walk, alarms } = await someSegments(t)
  await world.ownerPool.query('delete from segment where after_id = 0')
  assert.equal((await walk(5_000)).length, 1_020)
  assert.equal(alarms(), 1)
})

test('a segment is packed again whole or not at all: where a record of its run is gone, all are packed anew', async (t) => {
  const { world, location, pack, walk, segments, alarms } = await someSegments(t)
  const [, second] = await segments()
  await location.upload('insurance_plans', { p300: aPlan({ plan_name: 'Renamed' }) })
  await world.ownerPool.query('delete from record where id = (select max(id) - 1 from record where id < $1)', [
    second?.last_id,
  ])
  await pack()
  await world.pool.query('update segment_due set due_at = now()')
  await pack({ staleMs: 0 })
  assert.equal(alarms(), 1)
  const anew = await segments()
  assert.deepEqual(
    anew.map(({ records }) => records),
    [250, 250, 250, 250],
  )
  assert.deepEqual(
    anew.map(({ after_id }) => after_id),
    ['0', ...anew.slice(0, -1).map(({ last_id }) => last_id)],
  )
  assert.equal((await walk(5_000)).length, 1_019)
})

test('segments do not wait for a clock that went back', async (t) => {
  const { world, location, pack, segments } = await someSegments(t)
  const stale = async () => (await world.pool.query('select from segment where stale_since is not null')).rowCount
  await location.upload('insurance_plans', { p300: aPlan({ plan_name: 'Renamed' }) })
  await world.pool.query(`update segment_due set due_at = due_at + interval '2 hours'`)
  await pack({ checkMs: 15_000 })
  assert.equal(await stale(), 1, 'the change was looked at')
  await world.pool.query(
    `update segment set stale_since = stale_since + interval '2 hours' where stale_since is not null`,
  )
  await world.pool.query(`update segment_due set due_at = due_at + interval '2 hours'`)
  await pack({ checkMs: 15_000, staleMs: 15_000 })
  assert.equal(await stale(), 0, 'it was packed again')
  assert.equal((await segments()).length, 4)
})
