import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outcomeOf, usageSearch } from './usage-search.ts'
import { summaryOf } from './usage-summary.ts'

const none = { requests: 0, records: 0, throttled: 0, errors: 0 }

test('a chart has a text: the total, and the highest value with its time', () => {
  const usage = {
    range: '24h' as const,
    bucket_seconds: 3600,
    totals: { ...none, requests: 1500 },
    buckets: [
      { ...none, at: '2026-11-21T10:00:00Z', requests: 300 },
      { ...none, at: '2026-11-21T11:00:00Z', requests: 1200 },
    ],
  }
  assert.match(summaryOf(usage, 'requests'), /^1,500 requests in the last 24 hours; most at Nov 21, 2026, .*: 1,200$/)
  assert.equal(summaryOf(usage, 'errors'), '0 other errors in the last 24 hours')
})

test('a rate-limited request is not an error', () => {
  assert.deepEqual(
    [200, 304, 404, 429, 503].map((status) => outcomeOf({ status })),
    ['ok', 'ok', 'error', 'throttled', 'error'],
  )
})

test('an address with a range or outcome that does not exist shows the page as it is without', () => {
  assert.deepEqual(usageSearch({ range: '1y', outcome: 'x', search: 'plans' }), { search: 'plans' })
  assert.deepEqual(usageSearch({ range: '7d', outcome: 'error' }), { range: '7d', outcome: 'error' })
})
