import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { aRecord, someWorld } from '../../test-world.ts'
import { permitRead } from '../consent/read-permit.ts'
import { createPageReader } from './page.ts'
import type { Selection } from './selection.ts'
import { spanRecordsMax } from './turn.ts'

const runs = 150 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)
/** Starts are spread over a month, and each sixth is where a week of the counts begins. */
const step = 28 * 3_600_000_000
const first = Date.UTC(2026, 0, 1) * 1000

test('whatever the filters and however they are read, the pages hold what matches, once, in order', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const { companyId, clientId } = await world.addVendor([location])
  const { rows: pairs } = await world.pool.query('select id from key_pair where client_id = $1', [clientId])
  const token = { companyId, keyPairId: pairs[0]?.id, expiresAt: new Date(Date.now() + 3_600_000) }
  await location.upload('patients', { p0: aRecord('patients'), p1: aRecord('patients'), p2: aRecord('patients') })
  for (const round of [0, 1, 2, 3, 4]) {
    const records = Array.from({ length: 30 }, (_, index) => {
      const number = (index * 7 + round * 13) % 75
      const startsAt = number % 9 === 0 ? null : new Date((first + (number % 25) * step) / 1000).toISOString()
      const patient = number % 8 === 0 ? null : `p${number % 3}`
      const more = { patient_source_id: patient, starts_at: startsAt, note: `${round}`, treatment_source_ids: [] }
      return [`a${number}`, aRecord('appointments', more)] as const
    })
    assert.equal((await location.upload('appointments', Object.fromEntries(records))).status, 200)
    // Each second upload begins a span of its own, as though the one before had filled it.
    if (round % 2 === 1) await world.pool.query('update dataset_state set span_records = $1', [spanRecordsMax])
  }
  const { rows } = await world.pool.query<{ id: string; modified_at: string; patient_id: string; starts_at: string }>(
    `select id, modified_at, patient_id, starts_at from record where dataset = 'appointments' order by id`,
  )
  const stamps = [...new Set(rows.map((row) => Number(row.modified_at)))]
  const patients = [...new Set(rows.flatMap((row) => row.patient_id ?? []))]
  assert.ok(stamps.length >= 3 && patients.length === 3 && rows.length > 50)
  const permit = await permitRead(world.pool, token, location.id, 'appointments', { previewOff: false })
  const readers = [3, 20_000].map((sortedMax) =>
    createPageReader(
      world.pool,
      () => new Date(),
      () => {},
      { fewMax: 0, sortedMax },
    ),
  )

  const selections: fc.Arbitrary<Selection> = fc.record({
    modifiedAfter: fc.option(fc.constantFrom(...stamps, ...stamps.map((stamp) => stamp - 1)), { freq: 2 }),
    patientId: fc.option(fc.constantFrom(...patients, '999'), { freq: 2 }),
    startsFrom: fc.option(
      fc.integer({ min: -1, max: 26 }).map((steps) => first + steps * step),
      { freq: 2 },
    ),
    startsTo: fc.option(
      fc.integer({ min: -1, max: 26 }).map((steps) => first + steps * step),
      { freq: 2 },
    ),
  })
  const matches = ({ modifiedAfter, patientId, startsFrom, startsTo }: Selection) =>
    rows
      .filter((row) => modifiedAfter === null || Number(row.modified_at) > modifiedAfter)
      .filter((row) => patientId === null || row.patient_id === patientId)
      .filter((row) => startsFrom === null || (row.starts_at !== null && Number(row.starts_at) >= startsFrom))
      .filter((row) => startsTo === null || (row.starts_at !== null && Number(row.starts_at) < startsTo))
      .map((row) => row.id)
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  await fc.assert(
    fc.asyncProperty(selections, fc.integer({ min: 1, max: 40 }), async (selection, items) => {
      const expected = matches(selection)
      for (const reader of readers) {
        const found: string[] = []
        for (let after = '0'; ; ) {
          const page = await reader.readAfter(permit, selection, after, items)
          assert.equal(page.total, expected.length)
          found.push(...page.documents.map(([id]) => id))
          if (!page.hasMore) break
          assert.equal(page.documents.length, items)
          after = page.documents.at(-1)?.[0] ?? ''
        }
        assert.deepEqual(found, expected)
      }
    }),
    { seed, numRuns: runs, endOnFailure: true },
  )
})
