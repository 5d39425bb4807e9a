import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { aRecord, someWorld } from '../../../testing/test-world.ts'
import { permitRead } from '../../consent/read-permit.ts'
import { parseMoment } from '../../datasets/instant.ts'
import { findMiscounts } from '../testing/test-miscounts.ts'
import { spanRecordsMax } from '../write/turn.ts'
import { createPageReader } from './page.ts'
import type { Selection } from './selection.ts'

const runs = 150 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)
/**
 * Starts are spread over a month about 1970, and each sixth is where a week of the counts begins; others are the first and the last that there can be,
 * those about which a number is no longer exact, and those at which a week begins.
 */
const startTexts = [
  ...Array.from({ length: 25 }, (_, step) => new Date(Date.UTC(1969, 11, 18) + step * 28 * 3_600_000).toISOString()),
  ...['0000-01-01T00:00:00.000Z', '0000-02-29T12:00:00.001Z', '0099-12-31T23:59:59.999Z', '1583-01-01T00:00:00.000Z'],
  ...['1969-12-25T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.001Z'],
  ...['2026-03-02T09:30:00.000Z', '2255-06-05T23:47:34.740Z', '2255-06-05T23:47:34.741Z', '2255-06-05T23:47:34.742Z'],
  ...['4253-05-31T22:20:37.039Z', '9999-12-31T23:59:59.998Z', '9999-12-31T23:59:59.999Z'],
]

test('whatever the filters and however they are read, the pages hold what matches, once, in order', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const { companyId, clientId } = await world.addVendor([location])
  const { rows: pairs } = await world.pool.query('select id from key_pair where client_id = $1', [clientId])
  const token = { companyId, keyPairId: pairs[0]?.id, expiresAt: new Date(Date.now() + 3_600_000) }
  await location.upload('patients', { p0: aRecord('patients'), p1: aRecord('patients'), p2: aRecord('patients') })
  for (const round of [0, 1, 2, 3, 4]) {
    const records = Array.from({ length: 50 }, (_, index) => {
      const number = (index * 7 + round * 13) % 125
      const startsAt = number % 11 === 0 ? null : startTexts[number % startTexts.length]
      const patient = number % 8 === 0 ? null : `p${number % 3}`
      const more = { patient_source_id: patient, starts_at: startsAt, note: `${round}`, treatment_source_ids: [] }
      return [`a${number}`, aRecord('appointments', more)] as const
    })
    assert.equal((await location.upload('appointments', Object.fromEntries(records))).status, 200)
    // Each second upload begins a span of its own, as though the one before had filled it.
    if (round % 2 === 1) await world.pool.query('update dataset_state set span_records = $1', [spanRecordsMax])
  }
  // As the vendor receives it: texts of one form, whose order is that of the moments.
  const { rows } = await world.pool.query<{
    id: string
    modified_at: string
    patient_id: string
    starts: string | null
  }>(
    `select id, modified_at, patient_id, document::json #>> '{attributes,starts_at}' as starts
       from record where dataset = 'appointments' order by id`,
  )
  assert.deepEqual(new Set(rows.map((row) => row.starts)), new Set([null, ...startTexts]))
  assert.deepEqual(await findMiscounts(world.pool), [])
  const stamps = [...new Set(rows.map((row) => Number(row.modified_at)))]
  const patients = [...new Set(rows.flatMap((row) => row.patient_id ?? []))]
  assert.ok(stamps.length >= 3 && patients.length === 3 && rows.length > 50)
  const permit = await permitRead(world.pool, token, location.id, 'appointments', { previewOff: false })
  const readers = [3, 20_000].map((sortedMax) =>
    createPageReader(
      world.pool,
      () => new Date(),
      () => {},
      { sortedMax },
    ),
  )

  /** Between two milliseconds too. */
  const moment = fc
    .tuple(fc.constantFrom(...startTexts), fc.constantFrom('000', '000', '001', '999'))
    .map(([text, micros]) => text.replace('Z', `${micros}Z`))
  const asked = fc.record({
    modifiedAfter: fc.option(fc.constantFrom(...stamps, ...stamps.map((stamp) => stamp - 1)), { freq: 2 }),
    patientId: fc.option(fc.constantFrom(...patients, '999'), { freq: 2 }),
    from: fc.option(moment, { freq: 2 }),
    to: fc.option(moment, { freq: 2 }),
  })
  type Asked = typeof asked extends fc.Arbitrary<infer Each> ? Each : never
  const startsOf = ({ starts }: (typeof rows)[number]) => starts?.replace('Z', '000Z') ?? null
  const matches = ({ modifiedAfter, patientId, from, to }: Asked) =>
    rows
      .filter((row) => modifiedAfter === null || Number(row.modified_at) > modifiedAfter)
      .filter((row) => patientId === null || row.patient_id === patientId)
      .filter((row) => from === null || (startsOf(row) ?? '') >= from)
      .filter((row) => to === null || (startsOf(row) ?? 'later') < to)
      .map((row) => row.id)
  const selectionOf = ({ modifiedAfter, patientId, from, to }: Asked): Selection => ({
    ...{ modifiedAfter, patientId },
    startsFrom: from === null ? null : parseMoment(from),
    startsTo: to === null ? null : parseMoment(to),
  })
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  await fc.assert(
    fc.asyncProperty(asked, fc.integer({ min: 1, max: 40 }), async (given, items) => {
      const expected = matches(given)
      const selection = selectionOf(given)
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
