import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, aRecord, someWorld, type TestScope } from '../../../testing/test-world.ts'
import { permitRead } from '../../consent/read-permit.ts'
import { putStampsAhead } from '../../datasets/testing/test-stamps.ts'
import { createPageReader, type PackedPage, type Page } from '../read/page.ts'
import { type PackOptions, packNext } from './segment-packer.ts'

const runRecords = 3
const aMinute = 60_000

test('a check that reaches its bound knows only what it looked at: changes after it are read from records, and the next check is due at once', async (t) => {
  const { world, location, pack, readParts } = await somePacked(t, 9)
  assert.deepEqual(await readParts(), ['packed', 'packed', 'packed'])
  for (const key of ['p1', 'p4', 'p7'])
    await location.upload('insurance_plans', { [key]: aPlan({ plan_name: 'Changed' }) })
  const bounded = { checkMs: aMinute, staleMs: aMinute, checkedMax: 1 }

  const stale: number[] = []
  for (let count = 1; count <= 3; count += 1) {
    assert.notEqual(await pack(bounded), null, `check ${count}`)
    const { rows } = await world.pool.query('select from segment where stale_since is not null')
    stale.push(rows.length)
    const parts = await readParts()
    assert.equal(parts.filter((each) => each === 'Changed').length, 3, `after check ${count}`)
  }

  assert.deepEqual(stale, [1, 2, 3])
  assert.equal(await pack(bounded), null, 'nothing is left')
})

test('a change one microsecond after a segment was packed makes it stale; what it was packed with does not', async (t) => {
  const { world, location, pack, readParts } = await somePacked(t, 3)
  assert.deepEqual(await readParts(), ['packed'])

  await location.upload('insurance_plans', { p2: aPlan({ plan_name: 'Changed' }) })
  const before = await readParts()
  await pack({ checkMs: 0, staleMs: aMinute })
  const marked = await readParts()
  // The minute is over.
  await world.ownerPool.query('update segment_due set due_at = now()')
  await pack({ checkMs: 0, staleMs: 0 })

  assert.deepEqual(before, ['Plan 1', 'Changed', 'Plan 3'])
  assert.deepEqual(marked, before)
  assert.deepEqual(await readParts(), ['packed'])
  assert.equal(await pack({ checkMs: 0, staleMs: 0 }), null, 'nothing is due')
})

test('a check finds the change of every record, the first and the last of a segment too, and no segment of another location or dataset', async (t) => {
  const { world, location, pack, readParts } = await somePacked(t, 9)
  const other = await world.addLocation({ insurancePlans: 9 })
  const all = { checkMs: 0, staleMs: aMinute }
  const patients = Array.from({ length: 9 }, (_, index) => [`${index}`, aRecord('patients')])
  await location.upload('patients', Object.fromEntries(patients))
  while ((await pack(all)) !== null);

  for (let number = 1; number <= 9; number += 1) {
    await location.upload('insurance_plans', { [`p${number}`]: aPlan({ plan_name: `Changed ${number}` }) })
    // The time of the next check has come.
    await world.pool.query('update segment_due set due_at = now()')
    await pack(all)
    const parts = await readParts()
    assert.ok(parts.includes(`Changed ${number}`), `record ${number}: ${parts}`)
    const { rows } = await world.pool.query(
      'select location_id, dataset, count(*)::int from segment where stale_since is not null group by 1, 2',
    )
    assert.deepEqual(rows, [{ location_id: location.id, dataset: 'insurance_plans', count: Math.ceil(number / 3) }])
  }

  // One change of each, one after the other: what is stale of one is not marked in the other.
  await other.upload('insurance_plans', { p5: aPlan({ plan_name: 'Changed' }) })
  while ((await pack(all)) !== null);
  const { rows } = await world.pool.query(
    'select count(*)::int from segment where stale_since is not null and location_id = $1',
    [other.id],
  )
  assert.deepEqual(rows, [{ count: 1 }])
})

/** A location with plans that are packed three by three, whose stamps lie ahead of the clock: each change has the next microsecond. */
async function somePacked(t: TestScope, plans: number) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await putStampsAhead(world.ownerPool, location.id)
  const all = Array.from({ length: plans }, (_, index) => [`p${index + 1}`, aPlan({ plan_name: `Plan ${index + 1}` })])
  // Nothing was packed before, and nothing is to be found.
  assert.equal(await packNext(world.pool, () => {}), null)
  await location.upload('insurance_plans', Object.fromEntries(all))
  const vendor = await world.addVendor([location])
  const token = await world.tokens.verify(await vendor.token())
  await vendor.get(`/locations/${location.id}/insurance_plans`)
  const pack = (options: Partial<PackOptions>) =>
    packNext(world.pool, () => {}, { options: { ...options, runRecords } })
  assert.notEqual(await pack({ checkMs: aMinute, staleMs: aMinute }), null)
  const pages = createPageReader(
    world.pool,
    () => new Date(),
    () => {},
    { runRecords },
  )
  const readParts = async () => {
    const permit = await permitRead(world.pool, token, location.id, 'insurance_plans', { previewOff: false })
    return partsOf(await pages.readPacked(permit, '0', 100))
  }
  return { world, location, pack, readParts }
}

/** The plan's name of each document, and `packed` for each segment. */
function partsOf(page: Page | PackedPage): string[] {
  const parts = 'parts' in page ? page.parts : page.documents.map(([lastId, document]) => ({ lastId, document }))
  return parts.map((part) => ('document' in part ? JSON.parse(part.document).attributes.plan_name : 'packed'))
}
