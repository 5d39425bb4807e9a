import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone } from './time-zone.ts'

test('names of the IANA database are time zones; abbreviations and offsets are not', () => {
  for (const name of [
    'UTC',
    'America/Chicago',
    'America/Argentina/Buenos_Aires',
    'America/Port-au-Prince',
    'Etc/GMT+5',
  ])
    assert.ok(isTimeZone(name), name)
  for (const name of ['', 'CST', 'EST5EDT', '-06:00', 'America', 'America/', '/Chicago', 'America/Nowhere'])
    assert.ok(!isTimeZone(name), name)
})

test('a text of 500 signs is refused at once', () => {
  for (const text of [`A${'-'.repeat(499)}`, `A/${'-/'.repeat(249)}`, `A/${'-'.repeat(497)}!`]) {
    const begun = process.cpuUsage()
    assert.ok(!isTimeZone(text))
    assert.ok(process.cpuUsage(begun).user < 100_000, text)
  }
})
