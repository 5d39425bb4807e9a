import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOn, timeOfDayOrNull, wallTimeOrNull } from './wall-time.ts'

const chicago = { zone: 'America/Chicago', offsetSeconds: 0 }
const instant = (value: string, clock: Parameters<typeof wallTimeOrNull>[1] = chicago) =>
  wallTimeOrNull(value, clock)?.instant

test('a wall time is an instant in winter and in summer', () => {
  assert.equal(instant('2026-01-15 09:00:00'), '2026-01-15T15:00:00.000Z')
  assert.equal(instant('2026-07-15 09:00:00'), '2026-07-15T14:00:00.000Z')
  assert.equal(wallTimeOrNull('2026-07-15 09:00:00', chicago)?.local, '2026-07-15T09:00:00')
})

test('an hour that comes twice is its first, and one that is left out is as much later', () => {
  assert.equal(instant('2026-11-01 01:30:00'), '2026-11-01T06:30:00.000Z')
  assert.equal(instant('2026-03-08 02:30:00'), '2026-03-08T08:30:00.000Z')
  assert.equal(instant('2026-03-08 03:00:00'), '2026-03-08T08:00:00.000Z')
})

test('a zone off the whole hour, and a server of which only the offset is known', () => {
  assert.equal(instant('2026-01-15 09:00:00', { zone: 'Asia/Kolkata', offsetSeconds: 0 }), '2026-01-15T03:30:00.000Z')
  assert.equal(instant('2026-01-15 09:00:00', { zone: null, offsetSeconds: -8 * 3600 }), '2026-01-15T17:00:00.000Z')
})

test('no date, an impossible one and, where a time of day is asked, midnight are nothing', () => {
  assert.equal(wallTimeOrNull('0001-01-01 00:00:00', chicago), null)
  assert.equal(wallTimeOrNull('0000-00-00 00:00:00', chicago), null)
  assert.equal(wallTimeOrNull(null, chicago), null)
  assert.equal(timeOfDayOrNull('2026-11-20 00:00:00', chicago), null)
  assert.equal(timeOfDayOrNull('2026-11-20 00:01:00', chicago)?.local, '2026-11-20T00:01:00')
})

test('the day is that of the practice, not of Greenwich', () => {
  assert.equal(dayOn(chicago, new Date('2026-12-01T05:59:59Z')), '2026-11-30')
  assert.equal(dayOn(chicago, new Date('2026-12-01T06:00:00Z')), '2026-12-01')
})
