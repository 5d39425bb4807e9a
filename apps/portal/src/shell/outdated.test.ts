import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOutdated } from './outdated.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const looked = {
  data: {},
  dataUpdatedAt: now - 20_000,
  fetchFailureCount: 0,
  error: null,
  fetchStatus: 'idle' as const,
}

test('a page says that its data is old when looks at it fail, and not over data that came a moment ago', () => {
  assert.equal(isOutdated(looked, now), false)
  for (const failed of [
    { ...looked, fetchFailureCount: 1 },
    { ...looked, error: new Error('no answer') },
    { ...looked, fetchStatus: 'paused' as const },
  ]) {
    assert.equal(isOutdated(failed, now), true)
    assert.equal(isOutdated({ ...failed, dataUpdatedAt: now - 2_000 }, now), false, 'fresh')
    assert.equal(isOutdated({ ...failed, data: undefined }, now), false, 'its page has its own error')
  }
})
