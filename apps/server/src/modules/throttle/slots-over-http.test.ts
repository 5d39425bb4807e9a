import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { type BodyOptions, sendBody } from '../../platform/http/send-body.ts'
import { exchange, openConnection, startTestServer } from '../../platform/http/testing/test-connection.ts'
import { type CompanyId, type LocationId, newUuid } from '../../platform/identity/identity.ts'
import { createSyncSlots } from './sync-slots.ts'

/** More than the kernel takes for a reader that does not read. */
const large = Buffer.alloc(32 * 1024 * 1024, 'x')
const ask = (location: number) => `GET /locations/${location} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`

/** A company whose limit is one location, and a route that holds its slot while it sends. */
async function serveOne(t: TestContext, settings: Partial<BodyOptions> = {}) {
  const { pool } = await createTestDatabase(t)
  const slots = createSyncSlots({
    pool,
    processId: randomUUID(),
    limits: { initial: 1, incremental: 1 },
    log: () => {},
  })
  t.after(() => slots.stop())
  const company = newUuid<CompanyId>()
  const sending = Promise.withResolvers<void>()
  let entered = 0
  const { port } = await startTestServer(t, (app) =>
    app.get<{ Params: { id: LocationId } }>('/locations/:id', async (request, reply) => {
      const slot = await slots.acquire(company, 'initial', request.params.id)
      entered += 1
      try {
        if (request.params.id === '13') throw new Error('Jane Canary')
        sending.resolve()
        const body = request.params.id === '1' ? large : '{}'
        await sendBody(reply, { body, coding: null, beforeLastBytes: slot.release, signal: slot.signal, ...settings })
      } finally {
        await slot.release()
      }
    }),
  )
  return {
    port,
    sending: sending.promise,
    entered: () => entered,
    statusOf: async (id: number) => (await exchange(t, port, ask(id))).status,
  }
}

/** Asks for another location until it is served; how long that took. */
async function untilFree(statusOf: (id: number) => Promise<number>): Promise<number> {
  const began = performance.now()
  while ((await statusOf(2)) === 429) assert.ok(performance.now() - began < 5_000, 'the slot never became free')
  return performance.now() - began
}

test('C01: a location beyond the limit gets the specification’s 429, and its route reads nothing', async (t) => {
  const world = await serveOne(t)
  const holder = await openConnection(t, world.port)
  holder.pause()
  holder.write(ask(1))
  await world.sending
  const answer = await exchange(t, world.port, ask(2))
  assert.equal(answer.status, 429)
  assert.equal(answer.headers.get('retry-after'), '1')
  const { errors, ...members } = JSON.parse(answer.body.toString())
  assert.equal(typeof errors, 'string')
  assert.deepEqual(members, {
    sync_type: 'initial',
    max_concurrent_locations: 1,
    active_location_ids: [1],
    retry_after_seconds: 1,
  })
  assert.equal(world.entered(), 1)
})

test('a caller that leaves frees its slot within a second', async (t) => {
  const world = await serveOne(t)
  const holder = await openConnection(t, world.port)
  holder.pause()
  holder.write(ask(1))
  await world.sending
  assert.equal(await world.statusOf(2), 429)
  holder.resetAndDestroy()
  assert.ok((await untilFree(world.statusOf)) < 1_000)
})

test('a reader that stalls holds its slot until it is cut, and no longer', async (t) => {
  const world = await serveOne(t, { stallMs: 300 })
  const holder = await openConnection(t, world.port)
  holder.pause()
  holder.write(ask(1))
  await world.sending
  assert.equal(await world.statusOf(2), 429)
  assert.ok((await untilFree(world.statusOf)) < 1_500)
})

test('a route that fails frees its slot, and a client that saw the end finds it free', async (t) => {
  const world = await serveOne(t)
  assert.equal(await world.statusOf(13), 500)
  for (let number = 2; number < 40; number += 1) assert.equal(await world.statusOf(number === 13 ? 40 : number), 200)
})
