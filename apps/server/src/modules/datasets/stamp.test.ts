import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deltaOverlapMicros, formatInstant, formatMicros, nextStamp, watermarkAfter } from './stamp.ts'

const noon = Date.UTC(2026, 10, 20, 12) * 1000

test('a stamp is written with its microseconds where it comes back, and without them in records', () => {
  assert.deepEqual(
    [formatMicros(noon), formatMicros(noon + 1), formatMicros(noon + 123_045), formatInstant(noon + 123_999)],
    [
      '2026-11-20T12:00:00.000000Z',
      '2026-11-20T12:00:00.000001Z',
      '2026-11-20T12:00:00.123045Z',
      '2026-11-20T12:00:00.123Z',
    ],
  )
  assert.equal(Date.parse(watermarkAfter(noon)) * 1000, noon + deltaOverlapMicros)
})

test('the next stamp is the database’s clock, or a microsecond after the last one where that lies ahead', () => {
  assert.deepEqual(
    [nextStamp(noon, noon + 2), nextStamp(noon, noon + 1), nextStamp(noon, noon), nextStamp(noon, noon - 5)],
    [noon + 2, noon + 1, noon + 1, noon + 1],
  )
})
