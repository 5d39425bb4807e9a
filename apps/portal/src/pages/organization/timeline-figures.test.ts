import assert from 'node:assert/strict'
import test from 'node:test'
import type { TimelineCell } from '@bridgework/contract/portal'
import { longestGap, shareRead } from './timeline-figures.ts'

const cells = (kinds: string): TimelineCell[] =>
  [...kinds].map((kind) => ({
    at: '2026-11-21T12:00:00Z',
    reads: kind === 'r' ? 1 : 0,
    kind: kind === 'r' ? 'read' : kind === 'm' ? 'missed' : 'closed',
  }))

test('a gap is counted over the hours that a practice was open, and ends with a read', () => {
  assert.equal(longestGap(cells('rrr'), 1800), 'none')
  assert.equal(longestGap(cells('rmrmm'), 1800), '1 h')
  assert.equal(longestGap(cells('mmccm'), 1800), '1 h 30 min')
  assert.equal(longestGap(cells('rmr'), 900), '15 min')
})

test('a closed practice has missed nothing', () => {
  assert.equal(shareRead(cells('ccc')), 'nothing was due')
  assert.equal(shareRead(cells('crc')), 'read in every cell that was due')
  assert.equal(shareRead(cells('crm')), 'read in 1 of 2 cells that were due')
})
