import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReaderEntry } from '@bridgework/contract/portal'
import { endingReaders, unusedReaders } from './access-review.ts'

const now = Date.parse('2026-11-28T12:00:00Z')
const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString()
const reader = (name: string, more: Partial<ReaderEntry>): ReaderEntry => ({
  company_id: name,
  name,
  logo: null,
  is_verified: true,
  has_access: true,
  datasets: ['patients'],
  locations: 1,
  granted_at: inDays(-400),
  ends_at: null,
  last_read_at: null,
  records: null,
  ...more,
})
const names = (readers: readonly ReaderEntry[]) => readers.map(({ name }) => name)

test('a vendor with access that has read nothing for more than 90 days is to be reviewed, unless its grant is younger', () => {
  const readers = [
    reader('never', {}),
    reader('long ago', { last_read_at: inDays(-91) }),
    reader('lately', { last_read_at: inDays(-89) }),
    reader('new', { granted_at: inDays(-1) }),
    reader('without access', { has_access: false }),
  ]
  assert.deepEqual(names(unusedReaders(readers, now)), ['never', 'long ago'])
})

test('access that ends within 30 days is to be reviewed, the next end first', () => {
  const readers = [
    reader('in 20 days', { ends_at: inDays(20) }),
    reader('tomorrow', { ends_at: inDays(1) }),
    reader('in 31 days', { ends_at: inDays(31) }),
    reader('ended', { ends_at: inDays(-1) }),
    reader('without end', {}),
  ]
  assert.deepEqual(names(endingReaders(readers, now)), ['tomorrow', 'in 20 days'])
})
