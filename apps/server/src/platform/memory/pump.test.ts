import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPump } from './pump.ts'

test('as many calls as may be are under way at a time, each with what waits when it begins', async () => {
  const waiting: number[] = []
  const [taken, ends]: [number[][], (() => void)[]] = [[], []]
  const step = () => {
    taken.push(waiting.splice(0))
    return new Promise<void>((resolve) => ends.push(resolve))
  }
  const pump = createPump(() => waiting.length > 0, step, 2)
  const add = async (...items: number[]) => {
    waiting.push(...items)
    for (const _ of items) pump.start()
    await new Promise(setImmediate)
  }
  await add(1, 2)
  await add(3)
  await add(4)
  await add(5)
  assert.deepEqual(taken, [[1, 2], [3]])

  const isIdle = pump.idle().then(() => true)
  ends[0]?.()
  await new Promise(setImmediate)
  assert.deepEqual(taken, [[1, 2], [3], [4, 5]])
  assert.equal(await Promise.race([isIdle, new Promise((resolve) => setImmediate(resolve, false))]), false)
  for (const end of ends) end()
  assert.equal(await isIdle, true)
})

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
