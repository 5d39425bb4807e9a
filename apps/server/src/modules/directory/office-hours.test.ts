import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OfficeHours, openMsBetween } from './office-hours.ts'

const open = (from: string, to: string, timeZone: string | null, officeHours: OfficeHours | null = null) =>
  openMsBetween({ timeZone, officeHours }, new Date(from), new Date(to)) / 60_000

test('nights and weekends are no open time, on the wall clock of the location', () => {
  // 2026-03-06 is a Friday; Chicago is 6 hours behind UTC until the 8th, when its clocks go forward.
  assert.equal(open('2026-03-06T14:00:00Z', '2026-03-06T15:00:00Z', 'America/Chicago'), 60)
  assert.equal(open('2026-03-07T00:30:00Z', '2026-03-07T12:00:00Z', 'America/Chicago'), 30, 'Friday until 19:00')
  assert.equal(open('2026-03-07T13:00:00Z', '2026-03-07T22:00:00Z', 'America/Chicago'), 6 * 60, 'Saturday 8–14')
  assert.equal(open('2026-03-08T00:00:00Z', '2026-03-09T11:59:00Z', 'America/Chicago'), 0, 'Sunday, and the night')
  assert.equal(
    open('2026-03-08T00:00:00Z', '2026-03-09T12:10:00Z', 'America/Chicago'),
    10,
    'Monday 7:00, in summer time',
  )
  assert.equal(
    open('2026-03-06T14:00:00Z', '2026-03-13T14:00:00Z', 'America/Chicago'),
    67 * 60,
    'Friday from 8:00 to 9:00',
  )
})

test('a location’s own hours are its own', () => {
  const split: OfficeHours = {
    monday: [
      { opens: '08:00', closes: '12:00' },
      { opens: '14:00', closes: '24:00' },
    ],
  }
  assert.equal(open('2026-03-09T00:00:00Z', '2026-03-10T00:00:00Z', 'UTC', split), 14 * 60)
  assert.equal(open('2026-03-10T00:00:00Z', '2026-03-16T00:00:00Z', 'UTC', split), 0)
})

test('without a zone that is known, every hour counts; what lies ahead is no time at all', () => {
  assert.equal(open('2026-03-08T00:00:00Z', '2026-03-08T01:00:00Z', null), 60)
  assert.equal(open('2026-03-08T00:00:00Z', '2026-03-08T01:00:00Z', 'Mars/Olympus'), 60)
  assert.equal(open('2026-03-08T01:00:00Z', '2026-03-08T00:00:00Z', null), 0)
  const years = open('2000-01-01T00:00:00Z', '2026-03-09T00:00:00Z', 'UTC')
  assert.equal(years, 3 * 66 * 60, 'no more than three weeks are looked at')
})
