import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'
import { createSeenStamps } from './seen-stamps.ts'

const [first, second] = datasetNames as [(typeof datasetNames)[number], (typeof datasetNames)[number]]

test('what was seen of a dataset is later than a stamp before it, and than no stamp of its own or after', () => {
  const seen = createSeenStamps()
  const id = '9007199254740991' as LocationId
  assert.equal(seen.hasAfter(id, first, 0), false)
  seen.note(id, first, 1_000_000)
  seen.note(id, first, 2_000_000)
  assert.deepEqual(
    [1_999_999, 2_000_000].map((stamp) => seen.hasAfter(id, first, stamp)),
    [true, false],
  )
  assert.equal(seen.hasAfter(id, second, 0), false)
})

test('a round over 200,000 locations finds what the last round saw, and few others share a place with it', () => {
  const seen = createSeenStamps()
  const ids = Array.from({ length: 200_000 }, (_, index) => String(5_000_000_000 + index * 7) as LocationId)
  // Every fourth changed since.
  for (const [index, id] of ids.entries()) seen.note(id, first, index % 4 === 0 ? 2_000 : 1_000)
  const counts = { found: 0, shared: 0 }
  for (const [index, id] of ids.entries()) {
    if (!seen.hasAfter(id, first, 1_000)) continue
    if (index % 4 === 0) counts.found += 1
    else counts.shared += 1
  }
  assert.ok(counts.found > 45_000, `${counts.found} of 50,000 are found`)
  assert.ok(counts.shared < 10_000, `${counts.shared} share a place`)
})
