import assert from 'node:assert/strict'
import test from 'node:test'
import { addDays, addMinutes, daysBetween, instantOf, wallTimeAt, weekdayOf } from './wall-time.ts'

test('a wall time is the instant at which the zone’s clocks show it, in summer and in winter', () => {
  assert.equal(instantOf('2026-01-15T09:00:00', 'America/Denver'), '2026-01-15T16:00:00.000Z')
  assert.equal(instantOf('2026-07-15T09:00:00', 'America/Denver'), '2026-07-15T15:00:00.000Z')
  assert.equal(instantOf('2026-07-15T09:00:00', 'UTC'), '2026-07-15T09:00:00.000Z')
  assert.equal(wallTimeAt(new Date('2026-07-15T15:00:00Z'), 'America/Denver'), '2026-07-15T09:00:00')
})

test('where the clock is set back the earlier of two instants is meant, where it jumps ahead the one as if it had not', () => {
  assert.equal(instantOf('2026-11-01T01:30:00', 'America/Denver'), '2026-11-01T07:30:00.000Z')
  assert.equal(instantOf('2026-11-01T02:30:00', 'America/Denver'), '2026-11-01T09:30:00.000Z')
  assert.equal(instantOf('2026-03-08T02:30:00', 'America/Denver'), '2026-03-08T09:30:00.000Z')
  assert.equal(instantOf('2026-03-08T01:30:00', 'America/Denver'), '2026-03-08T08:30:00.000Z')
  assert.equal(instantOf('2026-03-08T03:30:00', 'America/Denver'), '2026-03-08T09:30:00.000Z')
})

test('days and minutes are counted over the ends of months and years', () => {
  assert.equal(addDays('2024-02-28', 2), '2024-03-01')
  assert.equal(addMinutes('2026-12-31T23:50:00', 20), '2027-01-01T00:10:00')
  assert.equal(daysBetween('2026-12-30', '2027-01-02'), 3)
  assert.deepEqual([weekdayOf('2026-11-20'), weekdayOf('2026-11-22')], [5, 7])
})
