import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { vendorApiPath } from '@bridgework/contract'
import { createRequestTurns } from '../../modules/throttle/request-turns.ts'
import { openConnection } from '../../platform/http/test-connection.ts'
import { createLoadWatch } from '../../platform/memory/load-watch.ts'
import { aPlan, someWorld } from '../../test-world.ts'
import { assertProblem, eventually } from './test-answer.ts'
import { holdInFlight } from './test-in-flight.ts'

test('requests of a company beyond its bound wait, then get 429 before anything is read; another company is served', async (t) => {
  const world = await someWorld(t, { requests: createRequestTurns({ keyMax: 2, waitMs: 300, keyWaitingMax: 1 }) })
  const location = await world.addLocation({ insurancePlans: 2 })
  const [vendor, other] = [await world.addVendor([location]), await world.addVendor([location])]
  const path = `/locations/${location.id}/insurance_plans`
  const waits = [vendor, vendor].map((each) => () => each.get(path))
  await using inFlight = await holdInFlight(world, waits, 1)
  const asked = t.mock.method(world.pool, 'query')

  const [waited, atOnce] = await Promise.all([vendor.get(path), vendor.get('/locations')])
  for (const answer of [waited, atOnce]) {
    assertProblem(answer, 'requests_exceeded')
    assert.equal(answer.headers.get('retry-after'), String(answer.body.retry_after_seconds))
  }
  const names = asked.mock.calls.map((call) => (call.arguments[0] as unknown as { name?: string }).name ?? '')
  assert.ok(!names.includes('permit-read') && !names.includes('require-principal'), names.join())
  assert.equal((await other.get('/locations')).status, 200)

  const queued = vendor.get(path)
  for (const answer of await inFlight.release()) assert.equal(answer.status, 200)
  assert.equal((await queued).status, 200, 'one that waited goes on when another ends')
})

test('large pages count as what they may have: others of the company wait, until it is known what they have', async (t) => {
  const world = await someWorld(t, { requests: createRequestTurns({ keyMax: 15, waitMs: 100 }) })
  const location = await world.addLocation({ insurancePlans: 2 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans?%69tems=5000`
  await using inFlight = await holdInFlight(world, [() => vendor.get(path)], 1)
  assertProblem(await vendor.get(path), 'requests_exceeded')
  assert.equal((await vendor.get('/locations')).status, 200)
  await inFlight.release()
  for (const answer of await Promise.all([vendor.get(path), vendor.get(path)])) assert.equal(answer.status, 200)
})

test('many deltas of a few records are read at one time, whatever they may have; larger ones wait for room, and not for each other', async (t) => {
  const world = await someWorld(t, { requests: createRequestTurns({ keyMax: 8, waitMs: 2_000 }) })
  const [few, many] = [await world.addLocation({ insurancePlans: 3 }), await world.addLocation({ insurancePlans: 60 })]
  const vendor = await world.addVendor([few, many])
  const pathOf = ({ id }: typeof few) => `/locations/${id}/insurance_plans?items=5000`
  const since = async (location: typeof few) => {
    const first = (await vendor.get(pathOf(location))).body.meta.next_fetch_modified_since
    const keys = Array.from({ length: location === few ? 3 : 60 }, (_, index) => `plan-${index + 1}`)
    await location.upload('insurance_plans', Object.fromEntries(keys.map((key) => [key, aPlan({ plan_name: 'New' })])))
    return `${pathOf(location)}&q[fetch_modified_since]=${encodeURIComponent(first)}`
  }
  const [fewPath, manyPath] = [await since(few), await since(many)]
  const ask = (path: string, count: number) => Promise.all(Array.from({ length: count }, () => vendor.get(path)))

  const client = await world.ownerPool.connect()
  await client.query('begin; lock table record in access exclusive mode')
  const answers = ask(fewPath, 8)
  await eventually(async () => (await vendor.get('/locations')).status === 429, 10_000, 'eight are in flight')
  await client.query('rollback')
  client.release()
  for (const answer of await answers) assert.deepEqual([answer.status, answer.body.data.length], [200, 3])

  for (const answer of await ask(manyPath, 8)) assert.deepEqual([answer.status, answer.body.data.length], [200, 60])
})

test('callers that leave give their turns back, whether they wait, are answered, or stand behind another answer', async (t) => {
  const world = await someWorld(t, { requests: createRequestTurns({ keyMax: 3, waitMs: 10_000 }) })
  const location = await world.addLocation({ insurancePlans: 2 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const text = `GET ${vendorApiPath}${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${await vendor.token()}\r\n\r\n`
  const sockets = await Promise.all(Array.from({ length: 3 }, () => openConnection(t, world.port)))
  const leave = async () => {
    for (const socket of sockets) {
      socket.write(text.repeat(3))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    for (const socket of sockets) socket.resetAndDestroy()
  }
  await using inFlight = await holdInFlight(world, [leave], 1)
  await inFlight.release()
  const isServed = async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, () => vendor.get(`${path}?items=300`)))
    return answers.every(({ status }) => status === 200)
  }
  await eventually(isServed, 2_000, 'every turn is free again')
})

test('while the heap is nearly full, large pages and uploads get 503 with Retry-After, and small ones are served', async (t) => {
  const load = createLoadWatch({ heapShareMax: 0.0001, heapKnownMs: 60_000, lagMaxMs: 60_000 })
  t.after(load.stop)
  const world = await someWorld(t, { load })
  const location = await world.addLocation({ insurancePlans: 2 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const wide = Array.from({ length: 5_000 }, (_, index) => [`w${index}`, aPlan({ plan_name: `${index}`.repeat(100) })])
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  while (load.heapShare() === 0) await sleep(1)

  const answer = await vendor.get(`${path}?items=5000`)
  assertProblem(answer, 'overloaded')
  assert.equal(answer.headers.get('retry-after'), '5')
  const upload = await location.upload('insurance_plans', Object.fromEntries(wide))
  assert.deepEqual([upload.status, upload.body.code, upload.headers.get('retry-after')], [503, 'overloaded', '5'])
  assert.equal((await vendor.get(path)).body.data.length, 2)
  assert.equal((await location.upload('insurance_plans', { p3: aPlan() })).status, 200)
  const { text } = await world.request('/metrics')
  assert.match(text, /^bridgework_heap_used_ratio 0\.\d+$/m)
  assert.match(text, /^bridgework_event_loop_lag_seconds [\d.e-]+$/m)
})
