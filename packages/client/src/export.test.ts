import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import type { Page } from './pages/page.ts'
import type { SyncStore } from './sync/store.ts'
import { openStore, someTarget } from './sync/testing/test-mirror.ts'
import { all, aPlan, clientOf, someClient } from './testing/test-client.ts'
import { seededRandom, someMishap, startProxy } from './testing/test-proxy.ts'

const textOf = (pages: readonly Page<string>[]) => pages.flatMap(({ records }) => records)

/** The pages of an export, with their lines as texts. */
async function exported(pages: AsyncIterable<Page<Uint8Array>>): Promise<Page<string>[]> {
  const list: Page<string>[] = []
  for await (const page of pages)
    list.push({ ...page, records: page.records.map((record) => Buffer.from(record).toString()) })
  return list
}

test('an export gives every record as the list does, in pages of any size, by one request', async (t) => {
  const { client, location, events } = await someClient(t, { insurancePlans: 23 })
  await location.upload('insurance_plans', { p7: aPlan({ plan_name: 'Zoë \u2028 "\n" 🦷 {"meta":' }), p8: null })
  const locationId = location.id
  const expected = (await all(client.insurancePlans.list({ locationId }))).map((record) => JSON.stringify(record))
  const { watermark, freshness } = (await client.insurancePlans.list({ locationId }).pages().next()).value ?? {}
  events.length = 0
  for (const pageSize of [1, 5, 22, 23, 24, 5_000]) {
    const pages = await exported(client.insurancePlans.export({ locationId, pageSize }))
    assert.deepEqual(textOf(pages), expected, `pages of ${pageSize}`)
    assert.equal(pages.length, Math.ceil(23 / pageSize))
    assert.deepEqual(
      pages.map((page) => page.watermark),
      pages.map((_, index) => (index === 0 ? watermark : null)),
    )
    assert.deepEqual([pages.at(-1)?.next, pages.at(-1)?.freshness, pages[0]?.total], [null, freshness, 23])
    const [first] = pages
    if (!first?.next) continue
    const rest = await exported(client.insurancePlans.export({ locationId, after: first.next }))
    assert.deepEqual([...first.records, ...textOf(rest)], expected)
  }
  assert.equal(events.filter(({ event }) => event === 'response').length, 6 + 3)
  const schedules = await exported(client.feeSchedules.export({ locationId }))
  assert.deepEqual([textOf(schedules), schedules.length], [[], 1])
  assert.throws(() => client.insurancePlans.export({ locationId, fields: [] } as never), /fields/)
})

test('an export through a network that cuts, delays and refuses gives every record once, and goes on where it was cut', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const { world, vendor, location } = await someClient(t, { insurancePlans: 600 })
  const locationId = location.id
  const expected = (await all(clientOf(world, vendor).insurancePlans.list({ locationId }))).map(({ id }) => id)
  const random = seededRandom(seed)
  const mishapOf = someMishap(random, 0.6)
  const proxy = await startProxy(t, world.url, ({ url }) => (url?.includes('/export') ? mishapOf() : 'pass'))
  // One client: an address gets ten tokens in a minute.
  const client = clientOf(world, vendor, { baseUrl: proxy.url, retry: { attempts: 30, delayMaxMs: 5 } })
  for (let walk = 0; walk < 20; walk += 1) {
    const pages = await exported(client.insurancePlans.export({ locationId, pageSize: 1 + Math.floor(random() * 200) }))
    assert.deepEqual(
      textOf(pages).map((record) => JSON.parse(record).id),
      expected,
    )
    assert.equal(pages.filter((page) => page.watermark !== null).length, 1)
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(proxy.seen)))
})

test('X04: a program that asks for pages before it has used the last ones gets every record once, unharmed', async (t) => {
  const { client, location } = await someClient(t, { insurancePlans: 130 })
  const locationId = location.id
  const expected = (await all(client.insurancePlans.list({ locationId }))).map((record) => JSON.stringify(record))
  const { insurancePlans } = client
  const walks: Record<string, (pageSize: number) => AsyncIterator<Page<unknown>>> = {
    pages: (pageSize) => insurancePlans.list({ locationId, pageSize }).pages(),
    bytes: (pageSize) => insurancePlans.bytes({ locationId, pageSize }),
    export: (pageSize) => insurancePlans.export({ locationId, pageSize }),
  }
  for (const [name, walk] of Object.entries(walks)) {
    for (const [pageSize, ahead] of [
      [1, 140],
      [7, 2],
      [40, 1],
      [60, 3],
    ] as const) {
      const pages = walk(pageSize)
      const asked = Array.from({ length: ahead }, () => pages.next())
      const held: Page<unknown>[] = []
      for (let next = asked.shift(); next; next = asked.shift()) {
        asked.push(pages.next())
        const { done, value } = await next
        if (done) break
        held.push(value)
      }
      const records = held.flatMap((page) => page.records)
      const texts = records.map((record) =>
        record instanceof Uint8Array ? Buffer.from(record).toString() : JSON.stringify(record),
      )
      assert.deepEqual(texts, expected, `${name} in pages of ${pageSize}, ${ahead} asked for ahead`)
      await Promise.all(asked)
    }
  }
})

test('an export of a location that is unknown is refused as its lists are', async (t) => {
  const { client } = await someClient(t)
  await assert.rejects(exported(client.insurancePlans.export({ locationId: '7' })), { code: 'location_unknown' })
})

test('a program that leaves an export in the middle frees its slot, and one that gives up gets its reason', async (t) => {
  const { client, location } = await someClient(t, { insurancePlans: 600, options: { concurrency: { initial: 1 } } })
  const locationId = location.id
  for await (const _ of client.insurancePlans.export({ locationId, pageSize: 10 })) break
  assert.equal((await all(client.insurancePlans.list({ locationId }))).length, 600)
  const stop = new AbortController()
  await assert.rejects(async () => {
    for await (const _ of client.insurancePlans.export({ locationId, pageSize: 10, signal: stop.signal }))
      stop.abort(new Error('enough'))
  }, /enough/)
})

test('a walk that has its last page, and one whose store fails, free their slots without asking for more', async (t) => {
  const options = { concurrency: { initial: 1 } }
  const { client, locations, location } = await someClient(t, { locations: 3, insurancePlans: 300, options })
  for (const { id } of locations) {
    const pages = client.insurancePlans.export({ locationId: id, pageSize: 300 })
    assert.equal((await pages.next()).value?.next, null)
  }
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
  const full: SyncStore = { ...store, apply: () => Promise.reject(new Error('no space')) }
  const asked = { datasets: ['insurance_plans'] as const, pageSize: 10 }
  await assert.rejects(client.sync({ ...asked, store: full }), /no space/)
  assert.equal((await client.sync({ ...asked, store })).records, 900)
  assert.equal((await all(client.insurancePlans.list({ locationId: location.id }))).length, 300)
  await store.close()
})
