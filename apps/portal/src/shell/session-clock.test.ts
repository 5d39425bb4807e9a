import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sessionPhase } from './session-clock.ts'

const minute = 60_000
const start = Date.parse('2026-11-21T08:00:00Z')
const at = (now: number, activeAt = start) =>
  sessionPhase({ now, activeAt, idleMs: 15 * minute, endsAt: start + 12 * 60 * minute })

test('an active person sees no warning', () => {
  assert.deepEqual(at(start + 13 * minute), { phase: 'active' })
})

test('after 14 minutes without activity the last minute is counted down, and then the session is over', () => {
  assert.deepEqual(at(start + 14 * minute), { phase: 'ending', because: 'idle', secondsLeft: 60 })
  assert.deepEqual(at(start + 15 * minute - 1), { phase: 'ending', because: 'idle', secondsLeft: 1 })
  assert.deepEqual(at(start + 15 * minute + 1000), { phase: 'over', because: 'idle', secondsLeft: 0 })
})

test('a computer that slept through the countdown finds the session over', () => {
  assert.equal(at(start + 60 * minute).phase, 'over')
})

test('after 12 hours the session ends whatever happens', () => {
  const end = start + 12 * 60 * minute
  assert.deepEqual(at(end - 30_000, end - 31_000), { phase: 'ending', because: 'lifetime', secondsLeft: 30 })
  assert.deepEqual(at(end + minute, end + minute), { phase: 'over', because: 'lifetime', secondsLeft: 0 })
})
