import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayIn, timeOfDayOrNull, wallTimeOrNull, withOffset } from './wall-time.ts'

const chicago = 'America/Chicago'
const instant = (value: string, zone = chicago) => wallTimeOrNull(value, zone)?.instant

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

test('a zone off the whole hour', () => {
  assert.equal(instant('2026-01-15 09:00:00', 'Asia/Kolkata'), '2026-01-15T03:30:00.000Z')
})

test('a wall time is written with its offset, in winter, in summer and east of Greenwich', () => {
  const written = (value: string, zone: string) => withOffset(wallTimeOrNull(value, zone) ?? assert.fail())
  assert.equal(written('2026-01-15 09:00:00', chicago), '2026-01-15T09:00:00-06:00')
  assert.equal(written('2026-07-15 09:00:00', chicago), '2026-07-15T09:00:00-05:00')
  assert.equal(written('2026-07-15 09:00:00', 'Asia/Kolkata'), '2026-07-15T09:00:00+05:30')
})

test('no date, an impossible one and, where a time of day is asked, midnight are nothing', () => {
  assert.equal(wallTimeOrNull('0001-01-01 00:00:00', chicago), null)
  assert.equal(wallTimeOrNull('0000-00-00 00:00:00', chicago), null)
  assert.equal(wallTimeOrNull(null, chicago), null)
  assert.equal(timeOfDayOrNull('2026-11-20 00:00:00', chicago), null)
  assert.equal(timeOfDayOrNull('2026-11-20 00:01:00', chicago)?.local, '2026-11-20T00:01:00')
})

test('the day is that of the practice, not of Greenwich', () => {
  assert.equal(dayIn(chicago, new Date('2026-12-01T05:59:59Z')), '2026-11-30')
  assert.equal(dayIn(chicago, new Date('2026-12-01T06:00:00Z')), '2026-12-01')
})
