import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { vendorApiPath } from '@bridgework/contract'
import { createRequestTurns } from '../../modules/throttle/request-turns.ts'
import { openConnection } from '../../platform/http/testing/test-connection.ts'
import { createLoadWatch } from '../../platform/memory/load-watch.ts'
import { aPlan, someWorld, type TestLocation, type TestVendor } from '../../testing/test-world.ts'
import { assertProblem, eventually } from './testing/test-answer.ts'
import { holdInFlight } from './testing/test-in-flight.ts'

test('requests of a company beyond its bound wait, then get 429 before anything is read; another company is served', async (t) => {
  const world = await someWorld(t, { requests: createRequestTurns({ keyMax: 2, waitMs: 300, keyWaitingMax: 1 }) })
  const location = await world.addLocation({ insurancePlans: 2 })
  const [vendor, other] = [await world.addVendor([location]), await world.addVendor([location])]
  // A page that is read in a slot.
  const path = `/locations/${location.id}/insurance_plans?items=200`
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

test('a delta that is read with its permit counts as little; any other waits for room, if its dataset is large', async (t) => {
  const requests = createRequestTurns({ keyMax: 8, waitMs: 500 })
  const world = await someWorld(t, { requests })
  const one = await world.addLocation({ insurancePlans: 5_000 })
  const other = await world.addLocation({ insurancePlans: 5_000 })
  const vendor = await world.addVendor([one, other])
  const [few, many] = [await deltaOf(vendor, one, 3), await deltaOf(vendor, other, 60)]

  const allButOne = requests.takeAtOnce(vendor.companyId, 7 * 2 ** 20) ?? assert.fail('there is room')
  assert.deepEqual((await vendor.get(few)).body.data.length, 3)
  allButOne.end()
  // Three megabytes are left, and a delta in pages of 5,000 counts as four.
  const held = requests.takeAtOnce(vendor.companyId, 5 * 2 ** 20) ?? assert.fail('there is room')
  assert.equal((await vendor.get(few)).status, 200)
  assertProblem(await vendor.get(many), 'requests_exceeded')
  held.end()
  for (const answer of await Promise.all([many, many, many].map((path) => vendor.get(path))))
    assert.deepEqual([answer.status, answer.body.data.length], [200, 60])
})

/** The path of a delta with this many plans, in pages of 5,000. */
async function deltaOf(vendor: TestVendor, location: TestLocation, plans: number): Promise<string> {
  const path = `/locations/${location.id}/insurance_plans`
  const { meta } = (await vendor.get(`${path}?items=1`)).body
  const sent = Array.from({ length: plans }, (_, index) => [`new${index}`, aPlan({ plan_name: `One of ${plans}` })])
  assert.equal((await location.upload('insurance_plans', Object.fromEntries(sent))).status, 200)
  return `${path}?items=5000&q[fetch_modified_since]=${meta.next_fetch_modified_since}`
}

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
  const watch = createLoadWatch({ heapShareMax: 0.0001, heapKnownMs: 60_000, lagMaxMs: 60_000 })
  t.after(watch.stop)
  // A collection may come by itself while the records are made.
  let isReady = false
  const load = { ...watch, isFull: () => isReady && watch.isFull() }
  const world = await someWorld(t, { load })
  const location = await world.addLocation({ insurancePlans: 5_000 })
  const small = await world.addLocation({ insurancePlans: 2 })
  const vendor = await world.addVendor([location, small])
  const path = `/locations/${location.id}/insurance_plans`
  const many = await deltaOf(vendor, location, 60)
  const few = await deltaOf(vendor, small, 3)
  const wide = Array.from({ length: 5_000 }, (_, index) => [`w${index}`, aPlan({ plan_name: `${index}`.repeat(100) })])
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  while (load.heapShare() === 0) await sleep(1)
  isReady = true

  const answer = await vendor.get(`${path}?items=5000`)
  assertProblem(answer, 'overloaded')
  assert.equal(answer.headers.get('retry-after'), '5')
  assertProblem(await vendor.get(many), 'overloaded')
  assert.equal((await vendor.get(few)).status, 200)
  const upload = await location.upload('insurance_plans', Object.fromEntries(wide))
  assert.deepEqual([upload.status, upload.body.code, upload.headers.get('retry-after')], [503, 'overloaded', '5'])
  assert.equal((await vendor.get(path)).body.data.length, 100)
  assert.equal((await location.upload('insurance_plans', { p3: aPlan() })).status, 200)
  const { text } = await world.request('/metrics')
  assert.match(text, /^bridgework_heap_used_ratio 0\.\d+$/m)
  assert.match(text, /^bridgework_event_loop_lag_seconds [\d.e-]+$/m)
})
