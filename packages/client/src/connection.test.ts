import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { regenerateKeyPair } from '../../../apps/server/src/modules/credentials/key-pair.ts'
import { all, clientOf, someClient, statusesOf } from './testing/test-client.ts'
import { type Mishap, seededRandom, someMishap, startProxy } from './testing/test-proxy.ts'
import type { StoredToken } from './tokens/token-store.ts'

test('fifty locations at once are read five at a time, without a single 429', async (t) => {
  const { client, locations, events } = await someClient(t, { locations: 50, insurancePlans: 3 })

  const initial = await Promise.all(
    locations.map(({ id }) => all(client.insurancePlans.list({ locationId: id, pageSize: 2 }).pages())),
  )
  const deltas = await Promise.all(
    locations.map(({ id }, index) =>
      all(client.insurancePlans.list({ locationId: id, modifiedSince: initial[index]?.[0]?.watermark ?? '' })),
    ),
  )

  assert.equal(initial.flat().flatMap(({ records }) => records).length, 150)
  assert.equal(deltas.flat().length, 0)
  // 100 pages, 50 deltas and one token for all of them.
  assert.deepEqual(statusesOf(events), { 200: 151 })
})

test('a lower limit is learned from the first 429 and kept to', async (t) => {
  const { client, world, vendor, locations, events } = await someClient(t, {
    locations: 8,
    insurancePlans: 4,
    limits: { initial: 2, incremental: 25 },
  })
  // Two reads of others of the company are under way, so that the first requests are refused however quick they are.
  const held = await Promise.all(
    locations.slice(0, 2).map(({ id }) => world.slots.acquire(vendor.companyId, 'initial', id)),
  )

  const reading = Promise.all(locations.map(({ id }) => all(client.insurancePlans.list({ locationId: id }))))
  while (!events.some((event) => event.event === 'limit.learned')) await sleep(10)
  await Promise.all(held.map((slot) => slot.release()))
  const lists = await reading
  assert.ok(lists.every((list) => list.length === 4))
  assert.ok(events.some((event) => event.event === 'limit.learned' && event.locations === 2))

  events.length = 0
  await Promise.all(locations.map(({ id }) => all(client.insurancePlans.list({ locationId: id, pageSize: 1 }))))
  assert.deepEqual(statusesOf(events), { 200: 32 })
})

test('parallel calls share one token, and a token that died is renewed once for all', async (t) => {
  const { world, vendor, locations, events } = await someClient(t, { locations: 3 })
  let pair = { clientId: vendor.clientId, clientSecret: vendor.clientSecret }
  const tokens = new Map<string, StoredToken>()
  const store = {
    read: async () => tokens.get('one') ?? null,
    write: async (_: string, token: StoredToken) => void tokens.set('one', token),
    alone: <T>(_: string, work: () => Promise<T>) => work(),
  }
  const options = { tokenStore: store, onEvent: (event: (typeof events)[number]) => events.push(event) }
  const readAll = () => {
    const client = clientOf(world, { ...vendor, ...pair }, options)
    return Promise.all(locations.map(({ id }) => client.patients.first({ locationId: id })))
  }

  await readAll()
  assert.equal(events.filter((event) => event.event === 'token').length, 1)

  // The store's token dies with the old pair; all three requests are refused, and one new token serves them all.
  events.length = 0
  const fresh = await regenerateKeyPair(world.pool, world.secretKey, {
    companyId: vendor.companyId,
    memberId: vendor.ownerId,
  })
  pair = { clientId: fresh.clientId, clientSecret: fresh.clientSecret }
  await readAll()
  assert.deepEqual(
    events.flatMap((event) => (event.event === 'token' ? [event.from] : [])),
    ['store', 'service'],
  )
  assert.deepEqual(statusesOf(events), { 401: 3, 200: 4 })
})

test('a service that refuses every token is asked for one new one, then the error is given', async (t) => {
  const { world, vendor, location, events } = await someClient(t)
  const proxyFetch: typeof fetch = (input, init) =>
    String(input).endsWith('/auth/token')
      ? fetch(input, init)
      : fetch(input, { ...init, headers: { authorization: 'Bearer e30.e30.e30' } })
  const client = clientOf(world, vendor, { fetch: proxyFetch, onEvent: (event) => events.push(event) })

  await assert.rejects(client.patients.first({ locationId: location.id }), { status: 401, code: 'token_invalid' })
  assert.deepEqual(statusesOf(events), { 200: 2, 401: 2 })
})

test('a token is renewed a little before its end, by the time that passed here and not by the clocks', async (t) => {
  const { world, vendor, location, events } = await someClient(t)
  const realNow = Date.now
  t.after(() => {
    Date.now = realNow
  })
  // This machine is a day behind the service.
  let aheadMs = -86_400_000
  Date.now = () => realNow() + aheadMs
  const client = clientOf(world, vendor, { onEvent: (event) => events.push(event) })
  const tokens = () => events.filter((event) => event.event === 'token').length

  await client.patients.first({ locationId: location.id })
  aheadMs += 5.9 * 3_600_000
  await client.patients.first({ locationId: location.id })
  assert.equal(tokens(), 1)
  aheadMs += 0.09 * 3_600_000
  await client.patients.first({ locationId: location.id })
  assert.equal(tokens(), 2)
})

test('a walk through a network that cuts, delays and refuses gives the same records', async (t) => {
  const { world, vendor, location } = await someClient(t, { insurancePlans: 60 })
  const seed = Number(process.env.BRIDGEWORK_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  t.diagnostic(`seed ${seed}`)
  const direct = await all(clientOf(world, vendor).insurancePlans.list({ locationId: location.id }))
  const random = seededRandom(seed)
  const proxy = await startProxy(t, world.url, someMishap(random, 0.5))
  const client = clientOf(world, vendor, { baseUrl: proxy.url, retry: { attempts: 40, delayMaxMs: 5 } })

  const plans = await all(client.insurancePlans.list({ locationId: location.id, pageSize: 2 }))

  assert.deepEqual(plans, direct)
  t.diagnostic(JSON.stringify(Object.fromEntries(proxy.seen)))
})

test('attempts are bounded, and what went wrong is said', async (t) => {
  const { world, vendor, location } = await someClient(t)
  let mishap: Mishap = 'pass'
  const proxy = await startProxy(t, world.url, () => mishap)
  const client = clientOf(world, vendor, { baseUrl: proxy.url, retry: { attempts: 3, delayMaxMs: 1 } })
  await client.patients.first({ locationId: location.id })

  for (const [kind, expected] of [
    ['cut-before', { status: 0, code: 'connection_failed', attempts: 3 }],
    ['cut-within', { status: 0, code: 'connection_failed', attempts: 3 }],
    ['truncate', { attempts: 3 }],
    ['503', { status: 503, code: 'unavailable', attempts: 3 }],
    ['502-html', { status: 502, code: 'answer_invalid', attempts: 3 }],
  ] as const) {
    mishap = kind
    await assert.rejects(client.patients.first({ locationId: location.id }), expected)
    assert.equal(proxy.seen.get(kind), 3)
  }
})

test('a pause is as long as the service asks for, in seconds or by a date', async (t) => {
  const { world, vendor, location } = await someClient(t)
  const date = new Date(Date.now() - 86_400_000)
  for (const headers of [
    { 'retry-after': '1' },
    // Of a service whose clock is a day behind. HTTP's dates have whole seconds.
    { 'retry-after': new Date(date.getTime() + 1_000).toUTCString(), date: date.toUTCString() },
  ]) {
    let isRefused = false
    const busy: typeof fetch = (input, init) => {
      if (isRefused || !String(input).includes('/patients')) return fetch(input, init)
      isRefused = true
      return Promise.resolve(Response.json({ errors: 'slow down' }, { status: 429, headers }))
    }
    const pauses: number[] = []
    const client = clientOf(world, vendor, {
      fetch: busy,
      onEvent: (event) => void (event.event === 'retry' && pauses.push(event.delayMs)),
    })
    const beganAt = performance.now()
    await client.patients.first({ locationId: location.id })
    assert.equal(pauses.length, 1)
    assert.ok(Number(pauses[0]) >= 1_000 && performance.now() - beganAt >= 990, `${pauses}`)
  }
})

test('what is wrong with the caller’s own listener or limits is not blamed on the service', async (t) => {
  const { world, vendor, location } = await someClient(t)
  for (const failing of ['request', 'response'] as const) {
    const client = clientOf(world, vendor, {
      onEvent({ event }) {
        if (event === failing) throw new Error('the listener failed')
      },
    })
    await assert.rejects(client.patients.first({ locationId: location.id }), /the listener failed/)
  }
  assert.throws(
    () => clientOf(world, vendor, { concurrency: { initial: 0 } }),
    /concurrency must be a whole number of at least 1, not 0/,
  )
})

test('a redirect is not followed, with the token or with the secret', async (t) => {
  const { world, vendor } = await someClient(t)
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(307, { location: `${world.url}${request.url}` }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  await assert.rejects(all(clientOf(world, vendor, { baseUrl }).locations.list()), { code: 'answer_invalid' })
  assert.deepEqual(asked, ['/api/v1/vendors/auth/token'])
})

test('a call can be given up while it waits for its turn, for a pause or for the answer, and the others go on', async (t) => {
  const { world, vendor, locations, location } = await someClient(t, { locations: 2, insurancePlans: 2 })
  let mishap: Mishap = 'pass'
  const proxy = await startProxy(t, world.url, () => mishap)
  const options = { baseUrl: proxy.url, concurrency: { initial: 1 }, retry: { attempts: 100, delayMaxMs: 50 } }
  const client = clientOf(world, vendor, options)
  await client.patients.first({ locationId: location.id })

  mishap = '503'
  const holder = new AbortController()
  const waiter = new AbortController()
  const held = client.insurancePlans.first({ locationId: locations[0]?.id ?? '', signal: holder.signal })
  const waiting = client.insurancePlans.first({ locationId: locations[1]?.id ?? '', signal: waiter.signal })
  waiter.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
  holder.abort()
  await assert.rejects(held, { name: 'AbortError' })

  mishap = 'pass'
  assert.ok(await client.insurancePlans.first({ locationId: locations[1]?.id ?? '' }))
  await assert.rejects(client.locations.get({ locationId: location.id, signal: AbortSignal.abort() }), {
    name: 'AbortError',
  })
})

test('an answer that does not end in time is an error that says so', async (t) => {
  const { world, vendor, location } = await someClient(t)
  const proxy = await startProxy(t, world.url, (request) => (request.method === 'GET' ? 'delay' : 'pass'))
  const client = clientOf(world, vendor, { baseUrl: proxy.url, timeoutMs: 10, retry: { attempts: 2, delayMaxMs: 1 } })

  await assert.rejects(client.patients.first({ locationId: location.id }), { status: 0, code: /timeout|connection/ })
})
