import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPump } from './pump.ts'

test('what arrives together goes together, and what arrives meanwhile goes next, whenever it comes', async () => {
  let waiting: number[] = []
  const batches: number[][] = []
  const pump = createPump(
    () => waiting.length > 0,
    async () => {
      batches.push(waiting)
      waiting = []
      await null
    },
  )
  const add = (item: number) => {
    waiting.push(item)
    pump.start()
  }
  add(1)
  add(2)
  // An item in each of the following turns: also in the one in which the pump comes to rest.
  for (let item = 3; item < 30; item++) {
    await null
    add(item)
  }
  await pump.idle()

  assert.deepEqual(batches[0], [1, 2])
  assert.deepEqual(
    batches.flat(),
    Array.from({ length: 29 }, (_, index) => index + 1),
  )
})
