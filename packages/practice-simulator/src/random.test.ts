import assert from 'node:assert/strict'
import test from 'node:test'
import { createRandom } from './random.ts'

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: string) => {
    const random = createRandom(seed)
    return Array.from({ length: 20 }, () => random.next())
  }
  assert.deepEqual(draw('a'), draw('a'))
  assert.notDeepEqual(draw('a'), draw('b'))
})

test('whole numbers reach both ends and no further', () => {
  const random = createRandom('ends')
  const drawn = new Set(Array.from({ length: 500 }, () => random.whole(3, 6)))
  assert.deepEqual([...drawn].sort(), [3, 4, 5, 6])
})

test('64-bit keys use the whole range of a replicated office, beyond what a double holds', () => {
  const random = createRandom('keys')
  const keys = Array.from({ length: 2000 }, () => BigInt(random.key64()))
  assert.equal(new Set(keys).size, keys.length)
  assert.ok(keys.every((key) => key >= 10_000n && key < 2n ** 63n))
  assert.ok(keys.filter((key) => key > 2n ** 53n).length > 1900)
})
