import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshnessOf, oldestOf } from './freshness.ts'

const now = new Date('2026-11-25T12:00:00.000Z')
const before = (ms: number) => new Date(now.getTime() - ms)
const minute = 60_000
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const always = {
  timeZone: 'America/New_York',
  officeHours: Object.fromEntries(weekdays.map((day) => [day, [{ opens: '00:00', closes: '24:00' }]])),
}

test('a copy is current for 15 minutes to the millisecond, and disconnected when neither a read nor the agent was within 60', async () => {
  const state = (readMs: number, heardMs: number | null) =>
    freshnessOf(
      { isProvided: true, syncedAt: before(readMs), initialSyncCompletedAt: before(readMs) },
      always,
      async () => (heardMs === null ? null : before(heardMs)),
      now,
    )
  const [quarter, hour] = [15 * minute, 60 * minute]

  assert.deepEqual(
    [
      await state(quarter, null),
      await state(quarter + 1, null),
      await state(hour, null),
      await state(hour + 1, hour),
      await state(hour + 1, hour + 1),
      await state(hour + 1, null),
    ],
    ['current', 'stale', 'stale', 'stale', 'disconnected', 'disconnected'],
  )
})

test('the agent’s last contact is asked for only when the last read is too long ago', async () => {
  const times = { isProvided: true, syncedAt: before(60 * minute), initialSyncCompletedAt: before(60 * minute) }
  const nobody = () => Promise.reject(new Error('asked'))

  assert.equal(await freshnessOf(times, always, nobody, now), 'stale')
  assert.equal(await freshnessOf({ ...times, isProvided: false }, always, nobody, now), 'not_provided')
  assert.equal(await freshnessOf({ ...times, syncedAt: null }, always, nobody, now), 'pending')
  assert.equal(await freshnessOf({ ...times, initialSyncCompletedAt: null }, always, nobody, now), 'pending')
})

test('several datasets are as current as the oldest, as complete as the last, and pending while one is', () => {
  const one = { isProvided: true, syncedAt: before(2 * minute), initialSyncCompletedAt: before(9 * minute) }
  const other = { isProvided: true, syncedAt: before(minute), initialSyncCompletedAt: before(5 * minute) }
  const none = { isProvided: false, syncedAt: null, initialSyncCompletedAt: null }

  assert.deepEqual(oldestOf([other, none, one]), { ...one, initialSyncCompletedAt: other.initialSyncCompletedAt })
  assert.deepEqual(oldestOf([one, { ...other, syncedAt: null }]), { ...other, syncedAt: null })
  assert.deepEqual([oldestOf([none]), oldestOf([])], [none, { ...none, isProvided: true }])
})
