import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import type { LogEvent } from '../../platform/log/log-event.ts'
import { createPageViewReceiver } from './page-view.ts'

const key = 'k'.repeat(22)
const minuteMs = 60_000

/** A receiver on a database that knows no script and answers when the test says so: how often it was asked, and the clock. */
function someReceiver({ isHeld = false } = {}) {
  let nowMs = Date.UTC(2026, 1, 3)
  const asked: PromiseWithResolvers<{ rows: never[] }>[] = []
  const events: LogEvent[] = []
  const query = () => {
    const answer = Promise.withResolvers<{ rows: never[] }>()
    asked.push(answer)
    if (!isHeld) answer.resolve({ rows: [] })
    return answer.promise
  }
  // A script is looked up by one query; where none is found, nothing else is done.
  const pool = { query } as unknown as Pool
  const receive = createPageViewReceiver({ pool, now: () => new Date(nowMs), log: (event) => events.push(event) })
  let nth = 0
  /** How many of so many views of websites that were not seen before are looked at. */
  const look = async (views: number, ip = '203.0.113.7') => {
    const before = asked.length
    for (let each = 0; each < views; each += 1) await receive({ key, origin: `https://n${nth++}.example`, ip })
    return asked.length - before
  }
  return {
    receive,
    look,
    asked,
    events,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

test('V06: of one address twenty views in any minute are looked at, whatever other addresses do and wherever the clock jumps', async () => {
  const { look, pass } = someReceiver()
  assert.equal(await look(25), 20)
  assert.equal(await look(25, '203.0.113.8'), 20)
  pass(minuteMs - 1)
  assert.equal(await look(1), 0)
  pass(1)
  assert.equal(await look(10), 10)
  pass(minuteMs / 2)
  assert.equal(await look(25), 10)
  pass(minuteMs / 2)
  assert.equal(await look(25), 10)
  pass(-minuteMs)
  assert.equal(await look(25), 10)
  pass(-minuteMs)
  assert.equal(await look(25), 20, 'a clock that was set back keeps nobody out for longer than a minute')
})

test('V06: a website that was seen is not looked at again for five minutes, and a failed look does not count', async () => {
  const { receive, asked, events, pass } = someReceiver({ isHeld: true })
  const view = (of = key) => receive({ key: of, origin: 'https://smile.example', ip: '203.0.113.7' })
  const answer = async (viewing: Promise<void>, error?: Error) => {
    const waiting = asked.at(-1)
    if (error) waiting?.reject(error)
    else waiting?.resolve({ rows: [] })
    await viewing
    return asked.length
  }
  assert.equal(await answer(view(), new Error('away')), 1)
  assert.deepEqual(
    events.map(({ event }) => event),
    ['task.failed'],
  )
  assert.equal(await answer(view()), 2)
  assert.equal(await answer(view()), 2)
  assert.equal(await answer(view('o'.repeat(22))), 3, 'another key')
  pass(5 * minuteMs - 1)
  assert.equal(await answer(view()), 3)
  pass(1)
  assert.equal(await answer(view()), 4)
  pass(-5 * minuteMs)
  assert.equal(await answer(view()), 5)
})

test('V06: two views are looked at at one time, and the next ones when those are done', async () => {
  const { receive, asked } = someReceiver({ isHeld: true })
  const begin = (names: string) =>
    [...names].map((name) => receive({ key, origin: `https://${name}.example`, ip: '203.0.113.7' }))
  const first = begin('abcd')
  assert.equal(asked.length, 2)
  asked[0]?.resolve({ rows: [] })
  asked[1]?.reject(new Error('away'))
  await Promise.all(first)

  const second = begin('efgh')
  assert.equal(asked.length, 4)
  for (const answer of asked) answer.resolve({ rows: [] })
  await Promise.all(second)
})

test('V04: what is no key of a script is not looked at', async () => {
  const { receive, asked } = someReceiver()
  for (const wrong of ['', 'k'.repeat(21), 'k'.repeat(23), ` ${key}`, `${key}\n`, `${'k'.repeat(21)}.`])
    await receive({ key: wrong, origin: 'https://smile.example', ip: '203.0.113.7' })
  for (const origin of [undefined, 'null', 'smile.example']) await receive({ key, origin, ip: '203.0.113.7' })
  assert.equal(asked.length, 0)
  await receive({ key: `-_${key.slice(2)}`, origin: 'https://smile.example', ip: '203.0.113.7' })
  assert.equal(asked.length, 1)
})
