import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { type DatasetName, datasets, getDataset, type SourceRecord } from '@bridgework/contract'
import { canonicalSource } from '@bridgework/contract/ingest'
import { generateVolume } from '@bridgework/practice-simulator'
import fc from 'fast-check'
import { renderDocuments } from './document.ts'
import { parseSource, sourceOf, sourceText, storedSource } from './stored-source.ts'

const seed = randomInt(2 ** 31)

/** Stores and reads a source; what it refers to is known, or not yet. */
function again(name: DatasetName, source: SourceRecord, isKnown: boolean): { before: string; after: string } {
  const dataset = getDataset(name)
  const before = canonicalSource(dataset)(source)
  const parsed = parseSource(name, before)
  const lookup = (target: string) => (isKnown ? { id: '7', source: getDataset(target as DatasetName).example } : null)
  const documents = renderDocuments(dataset, { id: '1', sourceId: 's', source: parsed, modifiedAt: 1 }, lookup)
  const row = { source: storedSource(dataset, before, parsed), ...documents }
  return { before, after: sourceText(name, sourceOf(dataset, row)) }
}

test(`a stored source is what was sent, byte for byte, with any text in it (seed ${seed})`, () => {
  const textMembers = (source: SourceRecord) => Object.keys(source).filter((name) => typeof source[name] !== 'boolean')
  fc.assert(
    fc.property(
      fc.constantFrom(...datasets).chain((dataset) =>
        fc.record({
          dataset: fc.constant(dataset),
          texts: fc.dictionary(fc.constantFrom(...textMembers(dataset.example)), fc.string({ unit: 'binary' })),
          isKnown: fc.boolean(),
          isHidden: fc.boolean(),
        }),
      ),
      ({ dataset, texts, isKnown, isHidden }) => {
        const { example } = dataset
        const replaced = Object.entries(texts).filter(([name]) => !Array.isArray(example[name]))
        const source = { ...example, ...Object.fromEntries(replaced), is_hidden: isHidden }
        const { before, after } = again(dataset.name, source, isKnown)
        assert.equal(after, before)
      },
    ),
    { seed, numRuns: 500 },
  )
})

test('a stored source of every record of a practice is what was sent', () => {
  for (const { dataset, records } of generateVolume({ seed: 'sources', locations: 1, patients: 20 }, '1')) {
    for (const { attributes } of records) {
      const { before, after } = again(dataset, attributes, true)
      assert.equal(after, before)
    }
  }
})

test('what is kept of a source is stored by its place, so members are only appended', () => {
  assert.deepEqual(Object.fromEntries(datasets.map(({ name, kept = null }) => [name, kept])), {
    fee_schedules: null,
    insurance_plans: ['fee_schedule_source_id'],
    patients: [
      'guarantor_source_id',
      'fee_schedule_source_id',
      'primary_insurance_plan_source_id',
      'secondary_insurance_plan_source_id',
      'merged_into_source_id',
    ],
    appointments: ['patient_source_id', 'treatment_source_ids'],
    treatments: ['patient_source_id', 'appointment_source_id'],
    ledger_transactions: [
      'patient_source_id',
      'guarantor_source_id',
      'treatment_source_id',
      'insurance_plan_source_id',
      'allocations',
    ],
    patient_referrals: ['patient_source_id', 'referring_patient_source_id', 'treatment_source_id'],
  })
})
