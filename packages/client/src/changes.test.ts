import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { change, changeKinds } from '@bridgework/contract'
import { begin, someCommand, someFolder } from './command/testing/test-command.ts'
import type { ClientEvent } from './events.ts'
import { sqliteStore } from './stores/sqlite/sqlite-store.ts'
import { all, aRecord, clientOf, someClient } from './testing/test-client.ts'

/** A client with a copy that is current, and the paths of the requests since it was last asked. */
async function someCopy(t: TestContext, { isOld = false } = {}) {
  const made = await someClient(t, { locations: 2, insurancePlans: 2 })
  const events: ClientEvent[] = []
  // What a service of an earlier release answers.
  const old: typeof fetch = (input, init) =>
    String(input).includes('/changes')
      ? Promise.resolve(
          Response.json(
            { errors: 'no', code: 'route_unknown', request_id: 'x' },
            { status: 404, headers: { 'x-request-id': 'x' } },
          ),
        )
      : fetch(input, init)
  const client = clientOf(made.world, made.vendor, {
    onEvent: (event) => events.push(event),
    ...(isOld && { fetch: old }),
  })
  const store = await sqliteStore(`${someFolder(t)}/copy.sqlite`)
  t.after(() => store.close())
  const first = await client.sync({ store })
  assert.equal(first.current, 14)
  const asked = () => events.splice(0).flatMap((each) => (each.event === 'request' ? [each.path] : []))
  asked()
  return { ...made, client, store, asked }
}

test('a round without a change is one request, and a change is one more', async (t) => {
  const { client, store, asked, location } = await someCopy(t)
  assert.equal((await client.sync({ store })).current, 14)
  assert.deepEqual(asked(), ['/changes'])
  await location.upload('patients', { p1: aRecord('patients') })
  const { current, records } = await client.sync({ store })
  assert.deepEqual([current, records], [14, 1])
  assert.deepEqual(asked(), ['/changes', `/locations/${location.id}/patients`])
  await client.sync({ store })
  assert.deepEqual(asked(), ['/changes'], 'a row that is repeated asks nothing')
})

test('another process, that knows no cursor, asks for all in one request and nothing else of the datasets', async (t) => {
  const { world, vendor, store } = await someCopy(t)
  const asked: string[] = []
  const other = clientOf(world, vendor, { onEvent: (each) => void (each.event === 'request' && asked.push(each.path)) })
  assert.equal((await other.sync({ store })).current, 14)
  assert.deepEqual(asked.toSorted(), ['/auth/token', '/changes', '/locations', '/organizations'])
})

test('a service of an earlier release is asked for each dataset, as ever', async (t) => {
  const { client, store, asked, location } = await someCopy(t, { isOld: true })
  await location.upload('patients', { p1: aRecord('patients') })
  const { current, records } = await client.sync({ store })
  assert.deepEqual([current, records], [14, 1])
  assert.equal(asked().length, 3 + 14)
  await assert.rejects(client.changes.page(), { status: 404, code: 'route_unknown' })
})

test('access that ends, comes back with notes or is new is seen in the next round', async (t) => {
  const { world, vendor, client, store, location, asked } = await someCopy(t)
  await location.upload('patients', { p1: aRecord('patients') })
  await client.sync({ store })
  await world.revoke(vendor.companyId, location)
  assert.equal((await client.sync({ store })).revoked.length, 7)
  asked()
  await world.grant(vendor.companyId, location, ['patients'], { notes: true })
  const again = await client.sync({ store })
  assert.deepEqual([again.revoked.length, again.records], [6, 1], 'nothing changed but the grant, and it is read whole')
  const later = await world.addLocation({ insurancePlans: 3 })
  await world.grant(vendor.companyId, later, ['insurance_plans'])
  assert.equal((await client.sync({ store })).records, 3)
})

test('what failed in one round is asked again in the next, though no row names it', async (t) => {
  const { world, vendor, store, location } = await someCopy(t)
  let isBroken = true
  const flaky: typeof fetch = (input, init) =>
    isBroken && String(input).includes('/patients')
      ? Promise.resolve(Response.json({ errors: 'no', code: 'internal', request_id: 'x' }, { status: 500 }))
      : fetch(input, init)
  const client = clientOf(world, vendor, { fetch: flaky, retry: { attempts: 1 } })
  await client.sync({ store })
  await location.upload('patients', { p1: aRecord('patients') })
  assert.equal((await client.sync({ store })).failed.length, 1)
  isBroken = false
  const { failed, records } = await client.sync({ store })
  assert.deepEqual([failed.length, records], [0, 1])
})

test('follow gives each change within 2 s, without what is repeated, and goes on when two others wait', async (t) => {
  const { world, vendor, client, location } = await someClient(t, { locations: 2 })
  const stop = new AbortController()
  t.after(() => stop.abort())
  const newsOf = async (pages: ReturnType<typeof client.changes.follow>) => {
    for (;;) {
      const { value } = await pages.next()
      if (value.news.length > 0) return value.news.map(({ type, id }: { type: string; id: string }) => `${type} ${id}`)
    }
  }
  const pages = client.changes.follow({ signal: stop.signal })
  assert.equal((await newsOf(pages)).length, 1 + 1 + 2 + 14)
  for (const key of ['p1', 'p2']) {
    const next = newsOf(pages)
    const beganAt = performance.now()
    await location.upload('patients', { [key]: aRecord('patients') })
    await client.patients.first({ locationId: location.id })
    assert.deepEqual(await next, [`dataset ${location.id}/patients`])
    assert.ok(performance.now() - beganAt < 2_000)
  }
  // Two others wait, so this one asks every few seconds.
  const others = [1, 2].map(() => clientOf(world, vendor).changes.follow({ signal: stop.signal }))
  for (const other of others) await other.next()
  const waiting = others.map((other) => other.next().catch(() => {}))
  const third = clientOf(world, vendor).changes.follow({ signal: stop.signal })
  await third.next()
  const beganAt = performance.now()
  assert.equal((await third.next()).value.hasMore, false)
  assert.ok(performance.now() - beganAt < 20_000)
  stop.abort()
  await Promise.all([...waiting, assert.rejects(pages.next())])
})

test('what a whole answer said on an earlier page is no news when it is repeated', async (t) => {
  const { world, vendor, location } = await someClient(t, { locations: 2 })
  const smallPages: typeof fetch = (input, init) => fetch(String(input).replace('items=5000', 'items=5'), init)
  const stop = new AbortController()
  t.after(() => stop.abort())
  const pages = clientOf(world, vendor, { fetch: smallPages }).changes.follow({ signal: stop.signal })
  let [count, rows] = [0, 0]
  for (let hasMore = true; hasMore; count += 1) {
    const { value } = await pages.next()
    rows += value.news.length
    hasMore = value.hasMore
  }
  assert.deepEqual([count, rows], [4, 1 + 1 + 2 + 14])
  await location.upload('patients', { p1: aRecord('patients') })
  const news: string[] = []
  // All that was granted a moment ago comes again, in several pages.
  for (let hasMore = true; hasMore; ) {
    const { value } = await pages.next()
    news.push(...value.news.map(({ id }: { id: string }) => id))
    hasMore = value.hasMore
  }
  assert.ok(news.length <= 1, String(news))
})

test('mirror --watch has a change in the copy within 2 s, and watch prints it', async (t) => {
  const { env, location, client } = await someCommand(t, { insurancePlans: 2 })
  const file = `${someFolder(t)}/copy.sqlite`
  const mirror = begin(['mirror', '--to', `sqlite:${file}`, '--watch'], env)
  t.after(mirror.interrupt)
  await mirror.says(/7 datasets are current/)
  const watch = begin(['watch', '--dataset', 'patients'], env)
  t.after(watch.interrupt)
  await watch.says(/Watching 1 datasets/)
  const store = await sqliteStore(file)
  t.after(() => store.close())
  for (const key of ['p1', 'p2', 'p3']) {
    const beganAt = performance.now()
    await location.upload('patients', { [key]: aRecord('patients') })
    const { id } = (await all(client.patients.list({ locationId: location.id }))).at(-1) ?? assert.fail()
    const copied = async () =>
      (await all(store.read({ locationId: location.id, dataset: 'patients' }))).some((record) => record.id === id)
    while (!(await copied())) {
      assert.ok(performance.now() - beganAt < 2_000, key)
      await sleep(20)
    }
    await watch.says(new RegExp(`changed  location ${location.id}  patients ${id}\n`))
    assert.ok(performance.now() - beganAt < 2_500, `${key} is printed`)
  }
  for (const each of [mirror, watch]) {
    each.interrupt()
    assert.equal(await each.ended, 130)
  }
  const both = begin(['mirror', '--to', `sqlite:${file}`, '--watch', '--every', '1m'], env)
  assert.equal(await both.ended, 2)
  assert.match(both.text(), /one of --watch and --every/)
})

test('changes.list gives the rows that the documentation describes', async (t) => {
  const { client } = await someClient(t)
  const rows = await all(client.changes.list())
  const known = Object.keys(change.properties.attributes.properties)
  for (const { type, attributes } of rows) {
    assert.ok(changeKinds.includes(type))
    for (const name of Object.keys(attributes)) assert.ok(known.includes(name), name)
  }
  assert.equal(rows.filter(({ type }) => type === 'dataset').length, 7)
})
