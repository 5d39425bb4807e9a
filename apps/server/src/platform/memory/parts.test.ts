import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partsOf } from './parts.ts'

test('parts have all rows in their order; the first is a quarter of the others, by rows and by bytes', () => {
  const rows = Array.from({ length: 3_000 }, (_, index) => index)
  const lengths = (bytesOf: (row: number) => number, of = rows) =>
    Array.from(partsOf(of, bytesOf), (part) => part.length)

  assert.deepEqual([...partsOf(rows, () => 0)].flat(), rows)
  assert.deepEqual(
    lengths(() => 0),
    [250, 1_000, 1_000, 750],
  )
  assert.deepEqual(
    lengths(() => 10_000, rows.slice(0, 300)),
    [25, 100, 100, 75],
  )
  assert.deepEqual(
    lengths(() => 4_000_000, rows.slice(0, 2)),
    [1, 1],
  )
  assert.deepEqual(
    lengths(() => 0, []),
    [],
  )
})
