import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatMoment, parseInstant, parseMoment } from './instant.ts'

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

const anyYear = fc.integer({ min: 0, max: 9999 })
const anyText = fc.tuple(anyYear, text).map(([y, given]) => `${String(y).padStart(4, '0')}${given.slice(4)}`)

test('a moment of any year from 0000 to 9999 is exact to the microsecond, and is written as it was read', () => {
  let before = 0
  fc.assert(
    fc.property(anyText, (given) => {
      const moment = parseMoment(given)
      if (given.slice(17, 19) === '60') return
      const nanoseconds = nanosecondsOf(given)
      assert.equal(moment, nanoseconds && floorOf(nanoseconds, 1000n), given)
      if (moment === null) return
      if (moment < 0n) before += 1
      const written = formatMoment(moment)
      assert.equal(floorOf(Temporal.Instant.from(written).epochNanoseconds, 1000n), moment, written)
    }),
    { numRuns: 20_000 },
  )
  assert.ok(before > 500, `only ${before} of the texts name a moment before 1970`)
  assert.equal(parseMoment('9999-12-31T23:59:59.999999Z'), 253_402_300_799_999_999n)
  assert.equal(parseMoment('0000-01-01T00:00:00.000001Z'), -62_167_219_199_999_999n)
})

test('a leap second is the moment after it, and no other minute has one', () => {
  assert.equal(parseMoment('2016-12-31T23:59:60.250Z'), parseMoment('2017-01-01T00:00:00.250Z'))
  assert.equal(parseMoment('2016-12-31T18:59:60-05:00'), parseMoment('2017-01-01T00:00:00Z'))
  for (const given of ['2016-12-31T23:58:60Z', '2016-12-31T23:59:61Z', '2016-12-31T23:59:60-05:00'])
    assert.equal(parseMoment(given), null, given)
  assert.equal(parseInstant('2016-12-31T23:59:60Z'), null)
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
    for (const parse of [parseInstant, parseMoment]) assert.equal(parse(given), null, JSON.stringify(given))
})

/** By Temporal, which takes the second 60 for 59, so that is refused before. */
function byCalendar(given: string): number | null {
  if (given.slice(17, 19) === '60') return null
  const nanoseconds = nanosecondsOf(given)
  return nanoseconds === null || nanoseconds < 0n ? null : Number(nanoseconds / 1000n)
}

function nanosecondsOf(given: string): bigint | null {
  try {
    return Temporal.Instant.from(given).epochNanoseconds
  } catch {
    return null
  }
}

function floorOf(value: bigint, divisor: bigint): bigint {
  return (value - (((value % divisor) + divisor) % divisor)) / divisor
}
