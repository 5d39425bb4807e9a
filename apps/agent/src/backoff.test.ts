import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { backoffMs, retryAfterMs, sleep } from './backoff.ts'

test('waiting grows with each failure, is spread over its whole range, and ends at a minute', () => {
  assert.deepEqual(
    [1, 2, 3, 7, 50].map((attempt) => backoffMs(attempt, null, () => 0.5)),
    [500, 1000, 2000, 30_000, 30_000],
  )
  assert.equal(
    backoffMs(5, null, () => 0),
    0,
  )
})

test('waiting is never shorter than the server asked for, and at most a tenth longer', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 60_000, max: 86_400_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (attempt, asked, chance) => {
        const wait = backoffMs(attempt, asked, () => chance)
        return wait >= asked && wait <= asked * 1.1
      },
    ),
  )
})

test('Retry-After is understood as seconds and as a date, and never is in the past', () => {
  const now = new Date('2026-11-20T12:00:00Z')
  assert.equal(retryAfterMs('120', now), 120_000)
  assert.equal(retryAfterMs('Fri, 20 Nov 2026 12:01:00 GMT', now), 60_000)
  assert.equal(retryAfterMs('Fri, 20 Nov 2026 11:00:00 GMT', now), 0)
  assert.equal(retryAfterMs('soon', now), null)
  assert.equal(retryAfterMs(null, now), null)
})

test('a wait ends at once when the agent is to stop', async () => {
  const stop = new AbortController()
  const waiting = sleep(3_600_000, stop.signal)
  stop.abort()
  await waiting
  await sleep(3_600_000, stop.signal)
})
