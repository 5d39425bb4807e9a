import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

test('a full map drops what was used longest ago', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  assert.equal(map.get('a'), 1)

  map.set('c', 3)

  assert.equal(map.get('b'), undefined)
  assert.deepEqual([map.get('a'), map.get('c'), map.size], [1, 3, 2])
})

test('an entry that is set again keeps its place in the count, and one that is deleted leaves it', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1)
  map.set('a', 2)
  map.set('b', 3)
  assert.deepEqual([map.get('a'), map.size], [2, 2])
  map.delete('a')
  assert.deepEqual([map.get('a'), map.size], [undefined, 1])
})
