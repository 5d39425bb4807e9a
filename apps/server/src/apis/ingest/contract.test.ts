import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { contractNumber, datasets, numbersOf } from '@bridgework/contract'
import { contractHeader } from '@bridgework/contract/ingest'
import { anyValueOf, contractNumbers, readContract } from '@bridgework/contract/test-shapes'
import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import { aRecord, someWorld } from '../../testing/test-world.ts'

const seed = randomInt(2 ** 31)

test(`lines of agents of every number of the contract are stored, vendors get every attribute of them, and the same record is one for all (seed ${seed})`, async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  for (const dataset of datasets) {
    const published = Compile(dataset.attributes)
    for (const number of contractNumbers.filter((each) => numbersOf(dataset, each).length > 0)) {
      const schema = readContract(number)[dataset.name]?.source
      assert.ok(schema)
      const sources = fc.sample(anyValueOf(schema), { seed: seed + number, numRuns: 20 }) as object[]
      const keyed = sources.map((source, index) => [`${number}.${index}`, source] as const)
      const stored = await location.upload(dataset.name, Object.fromEntries(keyed))
      assert.partialDeepStrictEqual([stored.status, stored.body], [200, { inserted: 20 }], stored.text)
      // An agent of today has null where the older one had nothing.
      const nulls = Object.fromEntries(Object.keys(dataset.source.properties).map((name) => [name, null]))
      const again = await location.upload(
        dataset.name,
        Object.fromEntries(keyed.map(([key, source]) => [key, { ...nulls, ...source }])),
      )
      assert.partialDeepStrictEqual([again.status, again.body], [200, { unchanged: 20 }], again.text)
    }
    const { body } = await vendor.get(`/locations/${location.id}/${dataset.name}?items=5000`)
    assert.equal(body.data.length, 20 * contractNumbers.length)
    for (const { attributes } of body.data) {
      assert.deepEqual(Object.keys(attributes).toSorted(), Object.keys(dataset.attributes.properties).toSorted())
      assert.ok(published.Check(attributes))
    }
  }
})

test('what came later and has a value is a change, is hidden and shown again with it, and an older agent takes it away', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const { title: _, ...older } = aRecord('patients') as Record<string, unknown>
  const read = async () => (await vendor.get(`/locations/${location.id}/patients`)).body.data[0]?.attributes
  const upload = async (source: object | null) => (await location.upload('patients', { p: source })).body

  assert.partialDeepStrictEqual(await upload(older), { inserted: 1 })
  assert.equal((await read())?.title, null)
  assert.partialDeepStrictEqual(await upload({ ...older, title: 'Dr.' }), { changed: 1 })
  assert.equal((await read())?.title, 'Dr.')
  assert.partialDeepStrictEqual(await upload(null), { hidden: 1 })
  assert.partialDeepStrictEqual(await read(), { title: 'Dr.', is_hidden: true })
  // What a hidden record's hash is made of is what an agent sends of it.
  assert.partialDeepStrictEqual(await upload({ ...older, title: 'Dr.', is_hidden: true }), { unchanged: 1 })
  assert.partialDeepStrictEqual(await upload(older), { changed: 1 })
  assert.equal((await read())?.title, null)
  assert.partialDeepStrictEqual(await upload(null), { hidden: 1 })
  assert.partialDeepStrictEqual(await upload({ ...older, is_hidden: true }), { unchanged: 1 })
})

test('an attribute that this service does not know is refused with the names of those it knows, and every answer says the number of the contract', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const refused = await location.upload('patients', { p: { ...aRecord('patients'), shoe_size: '42' } })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /attributes has a member that is not known\. Known: title, (\w+, )*first_name/)
  assert.equal(refused.headers.get(contractHeader), String(contractNumber))
})
