import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsOf } from './first-steps.ts'

const none = { current: 0, stale: 0, disconnected: 0, pending: 0, not_provided: 0 }
const practice = {
  agents: { living: 0, connected: 0, missed: 0 },
  locations_by_state: none,
  members: 1,
  vendors: 0,
  first_steps_dismissed_at: null,
  time_zone: null,
}
const done = (of: Parameters<typeof stepsOf>[0]) => stepsOf(of).map(({ isDone }) => isDone)

test('a new practice has no step done, and each is done independently of the others', () => {
  assert.deepEqual(done(practice), [false, false, false, false, false])
  assert.deepEqual(done({ ...practice, time_zone: 'America/Denver' }), [true, false, false, false, false])
  assert.deepEqual(done({ ...practice, agents: { living: 1, connected: 0, missed: 0 } }), [
    false,
    true,
    false,
    false,
    false,
  ])
  assert.deepEqual(done({ ...practice, locations_by_state: { ...none, pending: 2 } }), [
    false,
    false,
    false,
    false,
    false,
  ])
  assert.deepEqual(done({ ...practice, locations_by_state: { ...none, stale: 1 } }), [false, false, true, false, false])
  assert.deepEqual(done({ ...practice, members: 2 }), [false, false, false, true, false])
  assert.deepEqual(done({ ...practice, vendors: 1 }), [false, false, false, false, true])
})

test('the steps are gone when all are done, and when they were dismissed', () => {
  const all = {
    agents: { living: 1, connected: 1, missed: 0 },
    locations_by_state: { ...none, current: 1 },
    members: 2,
    vendors: 1,
    first_steps_dismissed_at: null,
    time_zone: 'America/Denver',
  }
  assert.deepEqual(done(all), [])
  assert.deepEqual(done({ ...practice, first_steps_dismissed_at: '2026-11-22T08:00:00Z' }), [])
})
