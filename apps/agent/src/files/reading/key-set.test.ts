import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keySet } from './key-set.ts'

test('each key is there once, also when there are many', () => {
  const keys = keySet()
  const count = 200_000
  for (let key = 0; key < count; key++) assert.ok(keys.add(`k${key}`))
  for (let key = 0; key < count; key += 7) assert.deepEqual([keys.add(`k${key}`), keys.has(`k${key}`)], [false, true])
  for (let key = count; key < count + 1000; key++) assert.ok(!keys.has(`k${key}`))
  assert.deepEqual([keys.has(''), keys.add(''), keys.add('')], [false, true, false])
})
