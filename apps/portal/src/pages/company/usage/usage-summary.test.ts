import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usageSearch } from './usage-search.ts'
import { durationSummary, errorRateOf, errorRateSummary, summaryOf } from './usage-summary.ts'

const none = { requests: 0, records: 0, throttled: 0, errors: 0, p50_ms: null, p95_ms: null, p99_ms: null }

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

test('response times and the error rate have a text, too', () => {
  const totals = { ...none, requests: 200, throttled: 50, errors: 5, p50_ms: 12.3, p95_ms: 250, p99_ms: 1_500 }
  const usage = { range: '1h' as const, bucket_seconds: 300, totals, buckets: [] }
  assert.equal(
    durationSummary(usage),
    'Response times in the last hour: half of the requests within 12 ms, 95% within 250 ms, 99% within 1.5 s',
  )
  assert.equal(errorRateSummary(usage), '2.5% of the requests failed in the last hour')
  assert.equal(errorRateOf(none), null)
  assert.equal(durationSummary({ ...usage, range: '7d', totals: none }), 'No response times in the last 7 days')
})

test('an address with a range that does not exist shows the page as it is without', () => {
  assert.deepEqual(usageSearch({ range: '1y' }), {})
  assert.deepEqual(usageSearch({ range: '7d' }), { range: '7d' })
})
