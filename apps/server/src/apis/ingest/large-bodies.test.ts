import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../platform/errors/problem.ts'
import { createTurns } from './large-bodies.ts'

test('an agent has one large body at a time, others go on, and all together have a few', async () => {
  const turn = createTurns({ max: 2, waitMs: 5_000 })
  const order: string[] = []
  const endFirst = await turn('a')
  const second = turn('a').then((end) => {
    order.push('a')
    return end
  })
  const endOther = await turn('b')
  const third = turn('c').then((end) => {
    order.push('c')
    return end
  })
  assert.deepEqual(order, [])

  endOther()
  await third
  assert.deepEqual(order, ['c'], 'the second body of an agent that has one does not hold up another agent')
  endFirst()
  endFirst()
  await second
  assert.deepEqual(order, ['c', 'a'])
})

test('a request that waits too long, or behind too many, is refused with a time to retry', async () => {
  const turn = createTurns({ max: 1, waitMs: 20, waitingMax: 1 })
  await turn('a')
  const isBusy = (error: unknown) =>
    error instanceof Problem && error.code === 'busy' && Number(error.retryAfterSeconds) > 0
  const late = assert.rejects(turn('b'), isBusy)
  await assert.rejects(turn('c'), isBusy)
  await late
})
