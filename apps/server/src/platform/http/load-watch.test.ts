import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLoadWatch } from '../memory/load-watch.ts'
import { exchange, startTestServer } from './testing/test-connection.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`

/** Keeps the event loop busy in stretches until stopped. */
function busy(stretchMs: number) {
  let isOver = false
  const run = async () => {
    while (!isOver) {
      const until = performance.now() + stretchMs
      while (performance.now() < until);
      await nextTurn()
    }
  }
  const running = run()
  return async () => {
    isOver = true
    await running
  }
}

test('while the event loop is late, new work gets 503 with Retry-After, health does not, and work goes on afterwards', async (t) => {
  const load = createLoadWatch({ lagMaxMs: 20, everyMs: 5 })
  t.after(load.stop)
  const { port } = await startTestServer(
    t,
    (app) => {
      app.get('/work', async () => ({}))
      app.get('/healthz', { config: { isAlwaysServed: true } }, async () => ({}))
    },
    { load },
  )
  assert.equal((await exchange(t, port, get('/work'))).status, 200)
  const stop = busy(60)
  while (!load.isLate()) await sleep(1)
  const refused = await exchange(t, port, get('/work'))
  const health = await exchange(t, port, get('/healthz'))
  await stop()
  assert.deepEqual([refused.status, JSON.parse(refused.body.toString()).code], [503, 'overloaded'])
  assert.equal(refused.headers.get('retry-after'), '2')
  assert.equal(health.status, 200)
  while (load.isLate()) await sleep(1)
  assert.equal((await exchange(t, port, get('/work'))).status, 200)
})

test('a single long stretch is no overload', async (t) => {
  const load = createLoadWatch({ lagMaxMs: 100 })
  t.after(load.stop)
  const until = performance.now() + 300
  while (performance.now() < until);
  await sleep(60)
  assert.ok(load.lagMs() > 20, String(load.lagMs()))
  assert.ok(!load.isLate())
})

test('large work is refused while the heap is nearly full after a full collection, and tried again a while later', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const load = createLoadWatch({ heapShareMax: 0.0001, heapKnownMs: 500 })
  t.after(load.stop)
  collect()
  while (load.heapShare() === 0) await sleep(1)
  assert.ok(load.isFull())
  // Another test of this process may cause a collection meanwhile.
  const until = performance.now() + 10_000
  while (load.isFull()) {
    assert.ok(performance.now() < until, 'it stays full')
    await sleep(50)
  }
})

test('large work is known while it is done, and for a moment after it, also where it fails', async (t) => {
  const load = createLoadWatch({ workedMs: 50 })
  t.after(load.stop)
  assert.equal(load.isWorking(), false)
  const { promise, reject } = Promise.withResolvers<never>()
  const failing = assert.rejects(
    load.whileWorking(() => promise),
    { message: 'failed' },
  )
  assert.equal(await load.whileWorking(async () => 7), 7)
  await sleep(60)
  assert.equal(load.isWorking(), true, 'the other one is under way')
  reject(new Error('failed'))
  await failing
  assert.equal(load.isWorking(), true)
  await sleep(60)
  assert.equal(load.isWorking(), false)
})
