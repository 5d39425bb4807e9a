import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oldestRead } from './oldest-read.ts'

const read = (at: string | null) => ({
  state: at === null ? ('pending' as const) : ('current' as const),
  synced_at: at,
})
const [older, newer] = [read('2026-03-01T09:00:00.000Z'), read('2026-03-01T09:01:00.000Z')]

test('the last read of a location is that of its least current dataset; until each was read once there is no last read', () => {
  assert.equal(oldestRead([newer, older]), older.synced_at)
  for (const datasets of [[read(null), newer], [newer, read(null), older], [newer, read(null)], []])
    assert.equal(oldestRead(datasets), null)
  assert.equal(oldestRead([newer, { state: 'not_provided', synced_at: null }]), newer.synced_at)
})
