import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aboutDuration } from './duration.ts'

test('an estimated time is told in minutes or hours, and never shorter than it is', () => {
  assert.deepEqual([0, 59, 60, 61, 190, 7_199, 7_201, 40_000].map(aboutDuration), [
    'less than a minute',
    'less than a minute',
    'about 1 minute',
    'about 2 minutes',
    'about 4 minutes',
    'about 2 hours',
    'about 3 hours',
    'about 12 hours',
  ])
})
