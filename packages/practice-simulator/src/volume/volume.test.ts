import assert from 'node:assert/strict'
import test from 'node:test'
import { datasetNames, datasets } from '@bridgework/contract'
import { generateVolume, recordsPerBatch, type VolumeBatch, volumeLocations, volumeSize } from './volume.ts'

const shape = { seed: 'volume', locations: 2, patients: 1000 }

test('a volume has every dataset in the contract’s order, each record with the contract’s attributes, and as many as it says', () => {
  const batches = volumeLocations(shape).flatMap(({ source_id }) => [...generateVolume(shape, source_id)])
  const count = batches.reduce((sum, { records }) => sum + records.length, 0)
  assert.equal(count, volumeSize(shape))
  assert.ok(batches.every(({ records }) => records.length <= recordsPerBatch))
  for (const { source_id } of volumeLocations(shape)) {
    const order = batches.filter((batch) => batch.locationKey === source_id).map(({ dataset }) => dataset)
    assert.deepEqual([...new Set(order)], datasetNames)
    assert.deepEqual(
      order.toSorted((one, other) => datasetNames.indexOf(one as never) - datasetNames.indexOf(other as never)),
      order,
    )
  }
  for (const { dataset, records } of batches) {
    const names = Object.keys(datasets.find(({ name }) => name === dataset)?.source.properties ?? {})
    // In the contract's order too, which saves those who store them the sorting.
    for (const record of records) assert.deepEqual(Object.keys(record.attributes), names, dataset)
  }
})

test('every reference of a volume leads to a record of the same location, and no key is given twice', () => {
  const keys = new Map<string, Set<string>>()
  const batches = [...generateVolume(shape, '1')]
  for (const { dataset, records } of batches) {
    const known = keys.get(dataset) ?? new Set()
    keys.set(dataset, known)
    for (const { source_id } of records) {
      assert.ok(!known.has(source_id), `${dataset} ${source_id} twice`)
      known.add(source_id)
    }
  }
  for (const { dataset, records } of batches) {
    for (const rule of datasets.find(({ name }) => name === dataset)?.refersTo ?? []) {
      for (const record of records) {
        for (const key of rule.keysOf({ ...record.attributes }))
          assert.ok(keys.get(rule.dataset)?.has(key), `${dataset} ${record.source_id} → ${rule.dataset} ${key}`)
      }
    }
  }
})

test('the ledger of a volume adds up to the balance of every patient', () => {
  const owed = new Map<string, number>()
  const add = (key: unknown, cents: number) => owed.set(String(key), (owed.get(String(key)) ?? 0) + cents)
  for (const { dataset, records } of generateVolume(shape, '2')) {
    for (const { source_id, attributes } of records) {
      if (dataset === 'patients') add(source_id, -cents((attributes.balance as { total: string }).total))
      if (dataset === 'ledger_transactions') add(attributes.patient_source_id, cents(attributes.amount as string))
    }
  }
  assert.ok([...owed.values()].every((difference) => difference === 0))
})

test('the same seed gives the same volume, another one another, at no less than 50,000 records a second', () => {
  const text = (seed: string) => JSON.stringify([...generateVolume({ ...shape, seed }, '1')])
  assert.equal(text('same'), text('same'))
  assert.notEqual(text('same'), text('other'))
  const large = { ...shape, patients: 5000 }
  const startedAtMs = performance.now()
  const count = batchesSize(generateVolume(large, '1'))
  assert.ok((count * 1000) / (performance.now() - startedAtMs) > 50_000)
})

function batchesSize(batches: Iterable<VolumeBatch>): number {
  let count = 0
  for (const { records } of batches) count += records.length
  return count
}

function cents(amount: string): number {
  return Math.round(Number(amount) * 100)
}
