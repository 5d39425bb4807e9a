import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { getDataset, renderingOf } from '@bridgework/contract'
import { aRecord, someWorld } from '../../../testing/test-world.ts'
import { completeLocations } from '../../onboarding/complete-locations.ts'
import { packNext } from '../segments/segment-packer.ts'
import { findMiscounts } from '../testing/test-miscounts.ts'
import { rerenderSliceMax } from './change.ts'
import { rerenderSlice } from './rerenderer.ts'

/** A location with patients that a release stored which rendered no title. */
async function someOlder(t: TestContext, count: number) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const { title: _, ...older } = aRecord('patients', { guarantor_source_id: null }) as Record<string, unknown>
  const records = Array.from({ length: count }, (_, index) => [`p${index}`, older] as const)
  for (let from = 0; from < count; from += 5000)
    await location.upload('patients', Object.fromEntries(records.slice(from, from + 5000)))
  await world.ownerPool.query(`update record set document = replace(document, '"title":null,', '')`)
  await world.pool.query("update dataset_state set rendering = 1 where dataset = 'patients'")
  const path = `/locations/${location.id}/patients`
  const pack = async () => {
    while ((await packNext(world.pool, () => {}, { options: { checkMs: 0, staleMs: 0 } })) !== null);
  }
  const render = async () => {
    let slices = 0
    while ((await rerenderSlice(world.pool, () => {})) !== null) slices += 1
    return slices
  }
  const titled = async () => {
    const { body } = await vendor.get(`${path}?items=5000`)
    return body.data.filter(({ attributes }) => 'title' in attributes).length
  }
  const digest = async () => (await vendor.get(`${path}/digest`)).body.data
  const state = async () => (await world.pool.query(stateOf, [location.id])).rows[0]
  return { world, location, vendor, path, older, pack, render, titled, digest, state }
}

const stateOf = `select rendering, last_stamp, (select max(modified_at) from record) as modified,
                        (select count(*)::integer from rerender_work) as work
                   from dataset_state where location_id = $1 and dataset = 'patients'`

test('stored records get a new attribute that is null in slices, and no record, count, digest or delta changes', async (t) => {
  const { world, vendor, path, pack, render, titled, digest, state } = await someOlder(t, rerenderSliceMax + 300)
  await pack()
  assert.equal(await titled(), 0)
  const [before, stateBefore] = [await digest(), await state()]
  const { next_fetch_modified_since: watermark } = (await vendor.get(path)).body.meta

  await completeLocations(world.pool)
  await completeLocations(world.pool)
  assert.equal((await state())?.work, 1)
  assert.ok((await render()) >= 2)
  // Segments too, which were packed before.
  assert.equal(await titled(), 5000)
  await pack()
  assert.equal(await titled(), 5000)
  const { rows } = await world.pool.query(
    `select count(*)::integer as n from record where document like '%"title":null%'`,
  )
  assert.equal(rows[0]?.n, rerenderSliceMax + 300)

  assert.deepEqual(await digest(), before)
  assert.deepEqual(await state(), { ...stateBefore, rendering: renderingOf(getDataset('patients')), work: 0 })
  const delta = await vendor.get(`${path}?q[fetch_modified_since]=${encodeURIComponent(watermark ?? '')}`)
  assert.deepEqual(delta.body.data, [])
  assert.deepEqual(await findMiscounts(world.pool), [])
  await completeLocations(world.pool)
  assert.equal((await state())?.work, 0)
})

test('where a new rendering says more of a stored record than null, the record changes, and only that one', async (t) => {
  const { world, location, vendor, path, render } = await someOlder(t, 3)
  await world.ownerPool.query(
    `update record set document = replace(document, '"guarantor_id":null', '"guarantor_id":"9"') where source_id = 'p1'`,
  )
  const { next_fetch_modified_since: watermark } = (await vendor.get(path)).body.meta
  await completeLocations(world.pool)
  await render()
  const { body } = await vendor.get(`${path}?q[fetch_modified_since]=${encodeURIComponent(watermark ?? '')}`)
  assert.deepEqual(
    body.data.map(({ attributes }) => [attributes.source_id, attributes.guarantor_id, attributes.title]),
    [['p1', null, null]],
  )
  assert.deepEqual(await findMiscounts(world.pool), [])
  assert.partialDeepStrictEqual((await location.upload('patients', { p1: aRecord('patients') })).body, { changed: 1 })
})

test('records stored before are unchanged for agents of both numbers, whether they are rendered anew or not', async (t) => {
  const { world, location, older, render } = await someOlder(t, 2)
  for (const source of [older, { ...older, title: null }])
    assert.partialDeepStrictEqual((await location.upload('patients', { p0: source })).body, { unchanged: 1 })
  await completeLocations(world.pool)
  await render()
  for (const source of [older, { ...older, title: null }])
    assert.partialDeepStrictEqual((await location.upload('patients', { p0: source })).body, { unchanged: 1 })
})

test('locations of today have nothing to render anew', async (t) => {
  const world = await someWorld(t)
  await world.addLocation({ insurancePlans: 1 })
  await completeLocations(world.pool)
  assert.equal((await world.pool.query('select from rerender_work')).rowCount, 0)
})
