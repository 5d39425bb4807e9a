import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortInstant } from './instant.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
const at = (secondsAgo: number) => shortInstant(new Date(now - secondsAgo * 1000).toISOString(), now)

test('an instant within the last day is shown by its age, without rounding up', () => {
  assert.equal(at(0), 'just now')
  assert.equal(at(59), 'just now')
  assert.equal(at(60), '1 minute ago')
  assert.equal(at(3599), '59 minutes ago')
  assert.equal(at(3600), '1 hour ago')
  assert.equal(at(86_399), '23 hours ago')
})

test('an instant in the future is shown as such', () => {
  assert.equal(at(-30), 'in less than a minute')
  assert.equal(at(-600), 'in 10 minutes')
  assert.equal(at(-3600), 'in 60 minutes')
  assert.equal(at(-7199), 'in 120 minutes')
  assert.equal(at(-7200), 'in 2 hours')
  assert.equal(at(-86_400), 'in 24 hours')
})

test('what was made a moment ago for 24 hours ends in 24 hours, not in 23', () => {
  assert.equal(at(-86_399), 'in 24 hours')
  assert.equal(at(-86_340), 'in 24 hours')
  assert.equal(at(-84_000), 'in 23 hours')
})

test('an instant more than a day away is shown by its day', () => {
  assert.match(at(86_400), /^Nov 20, 2026/)
  assert.match(at(-86_401), /^Nov 22, 2026/)
})
