import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createGrowingBuffer } from './growing-buffer.ts'

const step = fc.oneof(
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 40 }).map((more) => ({ more })) },
  { weight: 1, arbitrary: fc.nat({ max: 60 }).map((count) => ({ count })) },
)

test('X04: a buffer holds what was appended and not dropped, in memory of at most twice its longest', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const buffer = createGrowingBuffer()
      let held: number[] = []
      let longest = 0
      for (const each of steps) {
        if ('more' in each) {
          buffer.append(each.more)
          held.push(...each.more)
        } else {
          const count = Math.min(each.count, held.length)
          buffer.drop(count)
          held = held.slice(count)
        }
        longest = Math.max(longest, held.length)
        assert.deepEqual([...buffer.bytes()], held)
        assert.ok(buffer.bytes().buffer.byteLength <= 2 * longest)
      }
    }),
  )
})

test('X04: memory is used again, so a thousand pieces are in a new place only a few times', () => {
  const buffer = createGrowingBuffer()
  const places = new Set<unknown>()
  for (let piece = 0; piece < 1000; piece += 1) {
    buffer.append(Buffer.from('0123456789'))
    places.add(buffer.bytes().buffer)
  }
  assert.ok(places.size <= Math.ceil(Math.log2(1000)), `${places.size} places`)
  buffer.drop(10_000)
  buffer.append(Buffer.from('again'))
  assert.ok(places.has(buffer.bytes().buffer))
})
