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
})

test('an instant a day away or more is shown by its day', () => {
  assert.match(at(86_400), /^Nov 20, 2026/)
  assert.match(at(-86_400), /^Nov 22, 2026/)
})
