import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseInstant } from './instant.ts'

const two = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'))
const digits = fc.stringMatching(/^\d{1,9}$/)
const zone = fc.oneof(
  fc.constant('Z'),
  fc.tuple(fc.constantFrom('+', '-'), two(25), two(61)).map(([sign, h, m]) => `${sign}${h}:${m}`),
)
const year = fc.oneof(fc.integer({ min: 1968, max: 2254 }), fc.integer({ min: 0, max: 1969 }))
const text = fc
  .tuple(year, two(13), two(32), two(24), two(60), two(60), fc.option(digits, { nil: null }), zone)
  .map(([y, month, day, hour, minute, second, fraction, offset]) => {
    const date = `${String(y).padStart(4, '0')}-${month}-${day}`
    return `${date}T${hour}:${minute}:${second}${fraction === null ? '' : `.${fraction}`}${offset}`
  })

test('a date-time names the moment that it names by the calendar, in whole microseconds, from 1970 on, or none', () => {
  let moments = 0
  fc.assert(
    fc.property(text, (given) => {
      const moment = parseInstant(given)
      assert.equal(moment, byCalendar(given), given)
      if (moment !== null) moments += 1
    }),
    { numRuns: 20_000 },
  )
  assert.ok(moments > 2_000, `only ${moments} of the texts name a moment`)
})

test('a text of another form names none', () => {
  for (const given of [
    '',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00Z',
    '2026-01-01t00:00:00Z',
    '2026-01-01T00:00:00z',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00+01',
    '+002026-01-01T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '२०२६-01-01T00:00:00Z',
  ])
    assert.equal(parseInstant(given), null, JSON.stringify(given))
})

/** By Temporal, which takes the second 60 for 59, so that is refused before. */
function byCalendar(given: string): number | null {
  if (given.slice(17, 19) === '60') return null
  try {
    const { epochNanoseconds } = Temporal.Instant.from(given)
    return epochNanoseconds < 0n ? null : Number(epochNanoseconds / 1000n)
  } catch {
    return null
  }
}
