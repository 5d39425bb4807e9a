import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveBack, ownBytes } from './own-bytes.ts'

test('own bytes are freed with all that shares them, and only once; others stay', () => {
  const bytes = ownBytes(100_000).fill('a')
  const part = bytes.subarray(10, 20)
  giveBack(part)
  assert.deepEqual([bytes.length, part.length, bytes.buffer.byteLength], [0, 0, 0])
  giveBack(part)

  // Small ones share a pool.
  const [one, other] = [Buffer.from('one'), Buffer.from('other')]
  const large = Buffer.alloc(100_000, 'b')
  for (const each of [one, large]) giveBack(each)
  assert.deepEqual([one.toString(), other.toString(), large.at(-1)], ['one', 'other', 0x62])
})
