import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import { createSecretKey } from '../../../modules/credentials/secret.ts'
import { openConnection, readAnswers } from '../../../platform/http/testing/test-connection.ts'
import {
  type Answer,
  aPlan,
  someWorld,
  type TestLocation,
  type TestVendor,
  type TestWorld,
} from '../../../testing/test-world.ts'
import { assertProblem, eventually } from '../testing/test-answer.ts'
import { holdInFlight, slotsTaken } from '../testing/test-in-flight.ts'
import { startServerProcess } from '../testing/test-server.ts'

const plansOf = (location: TestLocation) => `/locations/${location.id}/insurance_plans`

/** A company with one slot of each type, a location whose page is larger than what the kernel takes for a reader, and a small one. */
async function withLargePage(t: TestContext, reader: { stallMs?: number; deadlineMs?: number } = {}) {
  const world = await someWorld(t, { limits: { initial: 1, incremental: 1 }, reader })
  const [large, small] = [await world.addLocation(), await world.addLocation({ insurancePlans: 1 })]
  const long = 'x'.repeat(500)
  const plan = aPlan({ plan_name: long, group_number: long, carrier_name: long, payer_id: long, employer_name: long })
  const plans = Array.from({ length: 5000 }, (_, index) => [`p${index}`, plan])
  assert.equal((await large.upload('insurance_plans', Object.fromEntries(plans))).status, 200)
  const vendor = await world.addVendor([large, small])
  const isFree = async () => (await vendor.get(plansOf(small))).status === 200
  return { world, vendor, large, small, isFree }
}

/** Asks for the large page on a connection that reads only what the test reads. */
async function askSlowly(
  t: TestContext,
  world: TestWorld,
  vendor: TestVendor,
  location: TestLocation,
): Promise<Socket> {
  const socket = await openConnection(t, world.port)
  socket.pause()
  socket.write(
    `GET ${vendorApiPath}${plansOf(location)}?items=5000 HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${await vendor.token()}\r\n\r\n`,
  )
  await eventually(async () => (await slotsTaken(world)) === 1, 5_000, 'the slot is taken')
  return socket
}

/** Reads until the share of the body, from the length that the answer's head says. */
async function readShare(socket: Socket, share: number): Promise<void> {
  let received = 0
  let wanted = Number.POSITIVE_INFINITY
  for (;;) {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) {
      await new Promise((resolve) => socket.once('readable', resolve))
      continue
    }
    const length = received === 0 ? /content-length: (\d+)/i.exec(chunk.toString('latin1'))?.[1] : undefined
    if (length !== undefined) wanted = Number(length) * share
    received += chunk.length
    if (received >= wanted) return
  }
}

test('C04: a caller that leaves after none, a little, half or nearly all of a page frees its slot within a second', async (t) => {
  const { world, vendor, large, small, isFree } = await withLargePage(t)
  for (const share of [0, 0.01, 0.5, 0.9]) {
    const socket = await askSlowly(t, world, vendor, large)
    if (share > 0) await readShare(socket, share)
    // Later, the rest of the page may be with the kernel, and then the slot is free already.
    if (share < 0.5) assertProblem(await vendor.get(plansOf(small)), 'sync_slots_exceeded')
    socket.resetAndDestroy()
    await eventually(isFree, 1_000, `the slot is free after ${share} of the body`)
  }
  assert.equal((await vendor.get(`${plansOf(large)}?items=5000`)).body.data.length, 5000)
  assert.equal(await slotsTaken(world), 0)
})

test('C05: a reader that stalls is cut and its slot is free; until then it counts, and others are served', async (t) => {
  const { world, vendor, large, small, isFree } = await withLargePage(t, { stallMs: 800 })
  const socket = await askSlowly(t, world, vendor, large)
  assertProblem(await vendor.get(plansOf(small)), 'sync_slots_exceeded')
  assert.equal((await vendor.get(`${plansOf(large)}?items=1`)).status, 200, 'the location itself is served')
  await eventually(isFree, 3_000, 'the stalled reader is cut')
  socket.resume()
  await eventually(async () => socket.destroyed, 1_000, 'its connection is closed')
  assert.deepEqual(cutsIn(world), ['stalled'])
})

test('C06: a reader that takes a little at a time is cut when its time is over, and counts until then', async (t) => {
  const { world, vendor, large, small, isFree } = await withLargePage(t, { stallMs: 20_000, deadlineMs: 1_500 })
  const socket = await askSlowly(t, world, vendor, large)
  const trickle = setInterval(() => socket.read(), 30)
  t.after(() => clearInterval(trickle))
  await new Promise((resolve) => setTimeout(resolve, 800))
  assertProblem(await vendor.get(plansOf(small)), 'sync_slots_exceeded')
  await eventually(isFree, 3_000, 'the slow reader is cut')
  assert.deepEqual(cutsIn(world), ['too slow'])
})

test('C07: a request that fails in flight answers in the one error shape and frees its slot', async (t) => {
  const world = await someWorld(t, { limits: { initial: 1, incremental: 1 } })
  const [first, second] = [
    await world.addLocation({ insurancePlans: 1 }),
    await world.addLocation({ insurancePlans: 1 }),
  ]
  const vendor = await world.addVendor([first, second])
  const withTableAway = async (table: string) => {
    await world.ownerPool.query(`alter table ${table} rename to away`)
    const answer = await vendor.get(plansOf(first))
    await world.ownerPool.query(`alter table away rename to ${table}`)
    return answer
  }
  assertProblem(await withTableAway('record'), 'internal')
  assert.equal((await vendor.get(plansOf(second))).status, 200)
  assertProblem(await withTableAway('disclosure'), 'disclosure_unavailable')
  assert.equal((await vendor.get(plansOf(second))).status, 200)

  // What a statement's timeout does, and what a restart of the database does.
  for (const end of ['pg_cancel_backend', 'pg_terminate_backend']) {
    await using inFlight = await holdInFlight(world, [() => vendor.get(plansOf(first))], 1)
    const waiting = "datname = current_database() and wait_event_type = 'Lock'"
    const isEnded = async () =>
      (await world.pool.query(`select ${end}(pid) from pg_stat_activity where ${waiting}`)).rowCount === 1
    await eventually(isEnded, 5_000, 'the waiting statement is ended')
    await eventually(async () => (await slotsTaken(world)) === 0, 1_000, 'the slot is free')
    const [answer] = await inFlight.release()
    assertProblem(answer as Answer, 'unavailable')
    assert.equal((await vendor.get(plansOf(second))).status, 200)
  }
})

test('C08: the slots of a server that was killed are free for another one within thirty seconds', async (t) => {
  const secret = randomBytes(32)
  const world = await someWorld(t, { secretKey: createSecretKey(secret) })
  const locations = await Promise.all(Array.from({ length: 6 }, () => world.addLocation({ insurancePlans: 1 })))
  const [sixth, ...five] = locations as [TestLocation, ...TestLocation[]]
  const vendor = await world.addVendor(locations)
  // A tenth of a server's own lease, which is 20 s: the rest is the same.
  const server = await startServerProcess(t, world, secret, { leaseMs: 2_000 })
  const headers = { authorization: `Bearer ${await vendor.token()}` }
  const lost = five.map(
    (location) => () =>
      world.request(vendorApiPath + plansOf(location), { on: server.url, headers }).then(
        () => 'answered',
        () => 'lost',
      ),
  )
  {
    await using inFlight = await holdInFlight(world, lost, 5)
    assertProblem(await vendor.get(plansOf(sixth)), 'sync_slots_exceeded')
    await server.kill()
    assertProblem(await vendor.get(plansOf(sixth)), 'sync_slots_exceeded')
    assert.deepEqual(
      await inFlight.release(),
      Array.from({ length: 5 }, () => 'lost'),
    )
  }
  const began = performance.now()
  await eventually(async () => (await vendor.get(plansOf(sixth))).status === 200, 30_000, 'the slots are free')
  assert.ok(performance.now() - began < 3_500)
  for (const location of five) assert.equal((await vendor.get(plansOf(location))).status, 200)
})

function cutsIn(world: TestWorld): string[] {
  return world.events.flatMap((event) => (event.event === 'response.cut' ? [event.because] : []))
}

test('with 64 descriptors 200 callers at once are answered, with 200 or 503, and none is reset', async (t) => {
  const secret = randomBytes(32)
  const world = await someWorld(t, { secretKey: createSecretKey(secret) })
  const server = await startServerProcess(t, world, secret, { descriptors: 64 })
  const ask = async () => {
    const socket = await openConnection(t, server.port)
    socket.write('GET /readyz HTTP/1.1\r\nHost: test\r\n\r\n')
    const [answer] = await readAnswers(socket, 1)
    return { socket, status: answer?.status, retryAfter: answer?.headers.get('retry-after') }
  }
  const answers = await Promise.all(Array.from({ length: 200 }, ask))
  const refused = answers.filter(({ status }) => status === 503)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 503])
  for (const { retryAfter } of refused) assert.equal(retryAfter, '2')
  for (const { socket } of answers) socket.destroy()
  await eventually(async () => (await ask()).status === 200, 5_000, 'others are served afterwards')
})
