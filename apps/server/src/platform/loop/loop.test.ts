import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogEvent } from '../log/log-event.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createLoop, type Step } from './loop.ts'

function someLoop(t: TestContext, steps: Record<string, Step>, more: { everyMs?: number; firstAfterMs?: number } = {}) {
  const events: LogEvent[] = []
  const loop = createLoop({ steps, everyMs: 5, log: (event) => events.push(event), ...more })
  t.after(loop.stop)
  return { loop, events }
}

test('a step that fails keeps no other from running, is logged with its code, and is tried again', async (t) => {
  let tries = 0
  const ran: string[] = []
  const metrics = createMetrics({}, { lagMs: () => 0, heapShare: () => 0 })
  const { loop, events } = someLoop(t, {
    before: () => ran.push('before'),
    'delete notes': async () => {
      tries += 1
      if (tries === 1) throw Object.assign(new Error('patient Ada'), { code: '42P01' })
      ran.push('delete notes')
    },
    'throw at once': () => {
      throw new TypeError('patient Ada')
    },
    after: async () => ran.push('after'),
  })
  await loop.run()
  assert.deepEqual(ran.splice(0), ['before', 'after'])
  await loop.run()
  assert.deepEqual(ran, ['before', 'delete notes', 'after'])
  assert.deepEqual(events, [
    { event: 'task.failed', task: 'delete notes', error: '42P01' },
    { event: 'task.failed', task: 'throw at once', error: 'TypeError' },
  ])
  for (const event of events) metrics.observe(event)
  assert.match(await metrics.render(), /^bridgework_events_total\{event="task\.failed"\} 2$/m)
})

test('a step that goes on failing is logged once a minute, and a failure after a success at once', async (t) => {
  let clockMs = 0
  t.mock.method(performance, 'now', () => clockMs)
  let isAway = true
  const { loop, events } = someLoop(t, {
    work: () => {
      if (isAway) throw new Error('away')
    },
  })
  for (const at of [0, 1_000, 59_999, 60_000, 61_000]) {
    clockMs = at
    await loop.run()
  }
  assert.equal(events.length, 2)
  isAway = false
  await loop.run()
  isAway = true
  await loop.run()
  assert.equal(events.length, 3)
})

test('runs never overlap: neither those of the timer, nor those that are asked for', async (t) => {
  let under = 0
  let runs = 0
  const { loop } = someLoop(
    t,
    {
      work: async () => {
        under += 1
        assert.equal(under, 1)
        await sleep(20)
        under -= 1
        runs += 1
      },
    },
    { everyMs: 1, firstAfterMs: 0 },
  )
  loop.start()
  await Promise.all([loop.run(), loop.run()])
  while (runs < 6) await sleep(5)
})

test('the first run begins after `everyMs` or `firstAfterMs`, and a long run leaves out the times that it covers', async (t) => {
  const begun: number[] = []
  const startedAt = performance.now()
  const { loop } = someLoop(
    t,
    {
      work: async () => {
        begun.push(performance.now() - startedAt)
        await sleep(250)
      },
    },
    { everyMs: 200, firstAfterMs: 0 },
  )
  loop.start()
  while (begun.length < 2) await sleep(5)
  assert.ok((begun[0] ?? 200) < 200, `${begun}`)
  assert.ok((begun[1] ?? 0) - (begun[0] ?? 0) > 390, `${begun}`)

  let isRun = false
  const { loop: later } = someLoop(
    t,
    {
      work: () => {
        isRun = true
      },
    },
    { everyMs: 100_000 },
  )
  later.start()
  await sleep(20)
  assert.equal(isRun, false)
})

test('a stop waits for the step in progress, which hears of it, leaves out the steps after it, and nothing runs again', async (t) => {
  const ran: string[] = []
  const begun = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const { loop, events } = someLoop(
    t,
    {
      long: async (stopping) => {
        begun.resolve()
        await held.promise
        ran.push(stopping.aborted ? 'ended early' : 'went on')
        throw new Error('failed while it stops')
      },
      next: () => ran.push('next'),
    },
    { firstAfterMs: 0 },
  )
  loop.start()
  await begun.promise
  let isStopped = false
  const stopped = loop.stop().then(() => {
    isStopped = true
  })
  await sleep(20)
  assert.equal(isStopped, false)
  held.resolve()
  await stopped
  await sleep(20)
  assert.deepEqual(ran, ['ended early'])
  assert.equal(events.length, 1)
  await loop.run()
  assert.deepEqual(ran, ['ended early', 'ended early', 'next'], 'a run that is asked for does every step')
})
