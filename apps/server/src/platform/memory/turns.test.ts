import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns, type TurnOptions } from './turns.ts'

const refused = new Error('refused')
const turns = (options: Partial<TurnOptions>) =>
  createTurns({ max: 2, keyMax: 1, waitMs: 5_000, waitingMax: 100, refusal: () => refused, ...options })

/** Asks for turns, and notes in which order they are given. */
function queueOn(take: ReturnType<typeof turns>) {
  const order: string[] = []
  const ask = async (key: string, weight?: number, name = key) => {
    const turn = await take(key, weight)
    order.push(name)
    return turn
  }
  return { order, ask }
}

test('a key has what it may have at one time, others go on, and all together have no more than the whole', async () => {
  const { order, ask } = queueOn(turns({}))
  const first = await ask('a')
  const second = ask('a', 1, 'a again')
  const other = await ask('b')
  const third = ask('c')
  assert.deepEqual(order, ['a', 'b'])

  other.end()
  await third
  assert.deepEqual(order, ['a', 'b', 'c'], 'the second of a key that has one does not hold up another key')
  first.end()
  first.end()
  await second
  assert.deepEqual(order, ['a', 'b', 'c', 'a again'])
})

test('room goes to the key that holds least, however long the queue of another', async () => {
  const { order, ask } = queueOn(turns({ max: 3, keyMax: 2 }))
  const held = await Promise.all([ask('a'), ask('a'), ask('b')])
  const queued = Array.from({ length: 50 }, () => ask('a'))
  const late = ask('c')
  order.length = 0
  held[0]?.end()
  await late
  assert.equal(order[0], 'c')
  held[1]?.end()
  held[2]?.end()
  await Promise.all(queued.map(async (turn) => (await turn).end()))
})

test('a heavy turn is not overtaken while it waits for room, and one that is heavier than the whole goes on alone', async () => {
  const { order, ask } = queueOn(turns({ max: 4, keyMax: 4 }))
  const light = await Promise.all([ask('a'), ask('b')])
  const heavy = ask('c', 9, 'heavy')
  const later = ask('d')
  light[0]?.end()
  assert.deepEqual(order, ['a', 'b'])
  light[1]?.end()
  const turn = await heavy
  assert.deepEqual(order, ['a', 'b', 'heavy'])
  turn.resize(1)
  await later
  assert.deepEqual(order, ['a', 'b', 'heavy', 'd'])
})

test('a turn that is waited for too long, or behind too many, is refused', async () => {
  const take = turns({ max: 1, waitMs: 20, waitingMax: 2, keyWaitingMax: 1 })
  const turn = await take('a')
  const late = assert.rejects(take('b'), refused)
  await assert.rejects(take('b'), refused)
  const other = assert.rejects(take('c'), refused)
  await assert.rejects(take('d'), refused)
  await Promise.all([late, other])
  turn.end()
  await take('b')
})
