import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { datasets } from '../generated.ts'
import { aPlan, aRecord, aSchedule, clientOf, someClient, statusesOf } from '../testing/test-client.ts'
import { StoreConflictError, type SyncStore } from './store.ts'
import type { SyncEvent } from './sync.ts'
import { assertEqualCopy, openStore, someTarget, storeKinds } from './testing/test-mirror.ts'

for (const kind of storeKinds) {
  test(`${kind}: a copy equals the service, after the first walk and after changes and removals`, async (t) => {
    const { client, location, locations } = await someClient(t, { locations: 2, insurancePlans: 7 })
    await location.upload('fee_schedules', { f1: aSchedule(), f2: aSchedule({ name: 'Two' }), f3: aSchedule() })
    await location.upload('patients', {
      p1: aRecord('patients', { first_name: 'Zoë \u2028 "N"\n' }),
      p2: aRecord('patients'),
    })
    const ids = locations.map(({ id }) => id)
    const target = await someTarget(t, kind)
    let store = await openStore(kind, target)

    const first = await client.sync({ store, pageSize: 2 })
    assert.equal(first.current, 14)
    assert.deepEqual([first.failed, first.revoked, first.notGranted], [[], [], []])
    assert.equal(await assertEqualCopy(client, store, ids), first.records)

    await store.close()
    store = await openStore(kind, target)
    assert.equal((await client.sync({ store, pageSize: 2 })).records, 0)
    await location.upload('insurance_plans', {
      p1: aPlan({ plan_name: 'New name' }),
      p2: null,
      p99: aPlan(),
      p98: aPlan(),
    })
    await location.upload('fee_schedules', { f0: aSchedule(), f2: null })
    const second = await client.sync({ store, pageSize: 2 })
    assert.equal(second.records, 6)
    await assertEqualCopy(client, store, ids)
    await store.close()
  })

  test(`${kind}: a walk that breaks off at any page goes on where it was, in another process`, async (t) => {
    const { client, location } = await someClient(t, { insurancePlans: 9 })
    await location.upload('fee_schedules', { f1: aSchedule(), f2: aSchedule(), f3: aSchedule() })
    const target = await someTarget(t, kind)

    const rounds = async () => {
      let pages = 0
      for (let isWhole = false; !isWhole; ) {
        const store = await openStore(kind, target)
        const stop = new AbortController()
        const onEvent = (event: SyncEvent) => {
          if (event.event !== 'page') return
          pages += 1
          stop.abort(new Error('enough'))
        }
        isWhole = await client.sync({ store, pageSize: 2, signal: stop.signal, onEvent }).then(
          () => true,
          (error) => {
            assert.match(error.message, /enough/)
            return false
          },
        )
        await store.close()
      }
      return pages
    }
    // No page is fetched twice: 2 pages of schedules and 5 of plans.
    assert.equal(await rounds(), 7)
    await location.upload('insurance_plans', { p1: null, p2: null, p3: null, p10: aPlan(), p11: aPlan() })
    assert.equal(await rounds(), 3)
    const store = await openStore(kind, target)
    await assertEqualCopy(client, store, [location.id])
    await store.close()
  })

  test(`${kind}: calls that overlap take turns, a verification among them`, async (t) => {
    const { client, location } = await someClient(t, { insurancePlans: 9 })
    const store = await openStore(kind, await someTarget(t, kind))

    const reports = await Promise.all([1, 2, 3].map(() => client.sync({ store, pageSize: 2 })))
    assert.deepEqual(
      reports.map(({ records }) => records),
      [9, 0, 0],
    )
    await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'New name' }), p2: null })
    await Promise.all([client.verify({ store }), client.sync({ store }), client.verify({ store })])
    await assertEqualCopy(client, store, [location.id])
    await store.close()
  })

  test(`M03: ${kind}: verify finds what else has written to the copy, says it, mends it, and reads no more than the ranges around it`, async (t) => {
    const { client, location } = await someClient(t, { insurancePlans: 3_200 })
    await location.upload('fee_schedules', Object.fromEntries(schedules(2_100)))
    const target = await someTarget(t, kind)
    let store = await openStore(kind, target)
    await client.sync({ store })
    const untouched = await client.verify({ store })
    assert.ok(untouched.every(({ read, serverDigest, storeDigest }) => read === 0 && serverDigest === storeDigest))
    await store.close()
    for (const dataset of ['insurance_plans', 'fee_schedules'] as const)
      await damage(kind, target, location.id, dataset)
    store = await openStore(kind, target)

    // In each, one is lost in the first thousand, one altered in the second, and one is too many behind the last.
    const [schedulesFound, plansFound] = await client.verify({
      store,
      datasets: ['insurance_plans', 'fee_schedules'],
      repair: false,
    })
    for (const [found, count, read] of [
      [schedulesFound, 2_100, 2_000],
      [plansFound, 3_200, 2_000],
    ] as const) {
      assert.deepEqual([found?.missing, found?.stray, found?.wrong, found?.newer], [1, 1, 1, 0])
      assert.deepEqual([found?.serverCount, found?.storeCount, found?.read], [count, count, read])
      assert.notEqual(found?.serverDigest, found?.storeDigest)
    }

    await client.verify({ store })
    const mended = await client.verify({ store })
    assert.ok(mended.every(({ read, serverDigest, storeDigest }) => read === 0 && serverDigest === storeDigest))
    await assertEqualCopy(client, store, [location.id])

    await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Later' }) })
    const [later] = await client.verify({ store, datasets: ['insurance_plans'] })
    assert.deepEqual([later?.newer, later?.wrong, later?.read], [1, 0, 1_000])
    await client.sync({ store })
    await assertEqualCopy(client, store, [location.id])
    await store.close()
  })
}

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: of two processes that sync one copy the slower one writes nothing over what the other has written`, async (t) => {
    const { world, vendor, client, location } = await someClient(t, { insurancePlans: 3 })
    const target = await someTarget(t, kind)
    const [store, other] = [await openStore(kind, target), await openStore(kind, target)]
    await client.sync({ store })
    const gate = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const slow: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!String(input).includes('/insurance_plans')) return response
      const answer = new Response(await response.arrayBuffer(), response)
      arrived.resolve()
      await gate.promise
      return answer
    }

    await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Second' }) })
    const late = clientOf(world, vendor, { fetch: slow }).sync({ store: other })
    await arrived.promise
    await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Third' }) })
    await client.sync({ store })
    gate.resolve()

    await assert.rejects(late, StoreConflictError)
    await assertEqualCopy(client, store, [location.id])
    await client.sync({ store: other })
    await assertEqualCopy(client, other, [location.id])
    await Promise.all([store.close(), other.close()])
  })
}

test('a SQLite file that another process is just making is waited for', async (t) => {
  const target = await someTarget(t, 'sqlite')
  const maker = new DatabaseSync(target)
  maker.exec('begin exclusive; create table other (id integer)')
  const program = `const { sqliteStore } = await import(${JSON.stringify(import.meta.resolve('../stores/sqlite/sqlite-store.ts'))})
    process.stdout.write('begun')
    await (await sqliteStore(${JSON.stringify(target)})).close()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  await sleep(300)
  assert.equal(child.exitCode, null)
  maker.exec('commit')
  maker.close()
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('locations that are granted later are picked up, revoked ones are said and keep their copy, and granted again they are whole', async (t) => {
  const { world, vendor, client, location } = await someClient(t, { insurancePlans: 3 })
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
  await client.sync({ store })
  const later = await world.addLocation({ insurancePlans: 4 })

  assert.deepEqual((await client.sync({ store, locations: [later.id], datasets: ['insurance_plans'] })).notGranted, [
    { locationId: later.id, dataset: 'insurance_plans' },
  ])
  await world.grant(vendor.companyId, later)
  const begun: string[] = []
  await client.sync({ store, onEvent: (event) => void (event.event === 'begun' && begun.push(event.dataset)) })
  assert.equal(begun.length, 7)

  await world.revoke(vendor.companyId, location)
  const report = await client.sync({ store })
  assert.deepEqual(
    report.revoked.map(({ locationId }) => locationId),
    Array.from({ length: 7 }, () => location.id),
  )
  await location.upload('insurance_plans', { p1: null })
  await world.grant(vendor.companyId, location)
  const again = await client.sync({ store })
  assert.deepEqual([again.revoked, again.records], [[], 3])
  await assertEqualCopy(client, store, [location.id, later.id])
  await store.close()
})

test('what is not switched on in production yet keeps nothing else from being copied', async (t) => {
  const { world, vendor } = await someClient(t, { insurancePlans: 1 })
  const production = await world.anotherServer({ previewDatasets: new Set() })
  let requests = 0
  const client = clientOf(world, vendor, {
    baseUrl: production.url,
    onEvent: ({ event }) => {
      if (event === 'request') requests += 1
    },
  })
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))

  const all = await client.sync({ store })
  assert.deepEqual([all.current, all.notGranted, all.revoked, all.failed], [6, [], [], []])
  const asked = await client.sync({ store, datasets: ['insurance_plans'] })
  assert.equal(asked.notGranted[0]?.dataset, 'insurance_plans')
  requests = 0
  await client.sync({ store })
  assert.equal(requests, 1, 'it is not asked for in each round')
  // What was copied before it was switched off grows old: that is said.
  await clientOf(world, vendor).sync({ store })
  assert.deepEqual(
    (await client.sync({ store })).revoked.map(({ dataset }) => dataset),
    ['insurance_plans'],
  )
  await store.close()
})

test('the next page is asked for while a page is written, and a page that cannot be written ends the sync with its own error', async (t) => {
  const { world, vendor, location } = await someClient(t, { insurancePlans: 5 })
  const asked: string[] = []
  const second = Promise.withResolvers<void>()
  const seen: typeof fetch = async (input, init) => {
    if (String(input).includes('after=')) second.resolve()
    asked.push(String(input))
    return fetch(input, init)
  }
  const client = clientOf(world, vendor, { fetch: seen })
  const stores = [
    await openStore('sqlite', await someTarget(t, 'sqlite')),
    await openStore('sqlite', await someTarget(t, 'sqlite')),
  ] as const
  for (const store of stores) await clientOf(world, vendor).sync({ store })
  // Each page of a delta is a request.
  const plans = Array.from({ length: 5 }, (_, index) => [`p${index + 1}`, aPlan({ plan_name: 'Changed' })])
  await location.upload('insurance_plans', Object.fromEntries(plans))
  const [store, other] = stores
  const options = { datasets: ['insurance_plans'] as const, pageSize: 2 }
  const waiting: SyncStore = {
    ...store,
    async apply(page) {
      const late = new Promise<never>((_, reject) => setTimeout(reject, 5_000, new Error('asked too late')).unref())
      await Promise.race([second.promise, late])
      await store.apply(page)
    },
  }
  assert.equal((await client.sync({ ...options, store: waiting })).records, 5)
  await assertEqualCopy(clientOf(world, vendor), store, [location.id])

  asked.length = 0
  const broken = { ...other }
  broken.apply = () => Promise.reject(new Error('no space'))
  await assert.rejects(client.sync({ ...options, store: broken }), /no space/)
  assert.equal(asked.filter((url) => url.includes('insurance_plans')).length, 2)
  await Promise.all([store.close(), broken.close()])
})

test('a verification of a service that knows no digest says so, and does not pass for one that found nothing', async (t) => {
  const { world, vendor, client } = await someClient(t, { insurancePlans: 1 })
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
  await client.sync({ store })
  const older: typeof fetch = (input, init) => fetch(String(input).replace(/\/digest.*/, '/999999999'), init)
  await assert.rejects(clientOf(world, vendor, { fetch: older }).verify({ store }), { code: 'record_unknown' })
  await store.close()
})

test('fifty locations are copied and brought up to date without a single 429', async (t) => {
  const { client, locations, events } = await someClient(t, { locations: 50, insurancePlans: 2 })
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))

  await client.sync({ store, pageSize: 1 })
  for (const { upload } of locations.slice(0, 30)) await upload('insurance_plans', { p1: null })
  const report = await client.sync({ store, pageSize: 1 })

  assert.equal(report.records, 30)
  assert.deepEqual(Object.keys(statusesOf(events)), ['200'])
  await store.close()
})

test('a folder that something else has written to says where, and what to do', async (t) => {
  const { client, location } = await someClient(t, { insurancePlans: 3 })
  const folder = await someTarget(t, 'ndjson')
  const store = await openStore('ndjson', folder)
  await client.sync({ store })
  const file = join(folder, location.id, 'insurance_plans.ndjson')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\n\n'))
  await client.verify({ store })
  await assertEqualCopy(client, store, [location.id])

  writeFileSync(file, readFileSync(file, 'utf8').replace(/\n+\{/, '\n{{'))
  await assert.rejects(client.verify({ store }), /insurance_plans\.ndjson, line 2: not a record\. .*remove the folder/)
  await store.close()
  rmSync(join(folder, location.id), { recursive: true })
  const anew = await openStore('ndjson', folder)
  await client.sync({ store: anew })
  await assertEqualCopy(client, anew, [location.id])
  await anew.close()
})

test('two processes cannot write to one folder', async (t) => {
  const folder = await someTarget(t, 'ndjson')
  const store = await openStore('ndjson', folder)
  await assert.rejects(openStore('ndjson', folder), /Another process is writing/)
  await store.close()
  await (await openStore('ndjson', folder)).close()
})

const schedules = (count: number) =>
  Array.from({ length: count }, (_, index) => [`f${index + 1}`, aSchedule({ name: `Plan ${index + 1}` })] as const)

/** The second record is lost, the 1500th altered, and one is there that never was. */
async function damage(
  kind: (typeof storeKinds)[number],
  target: string,
  locationId: string,
  dataset: 'insurance_plans' | 'fee_schedules',
): Promise<void> {
  const stray = { plan_name: 'Stray' }
  if (kind === 'ndjson') {
    const file = join(target, locationId, `${dataset}.ndjson`)
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    lines[1499] = lines[1499]?.replace('Plan 1500', 'Plan fifteen hundred') ?? ''
    lines.splice(1, 1)
    const added = JSON.stringify({ id: '999999', type: datasets[dataset].type, attributes: stray })
    writeFileSync(file, `${[...lines, added].join('\n')}\n`)
    return
  }
  const table = kind === 'postgres' ? 'bridgework.raw_record' : 'raw_record'
  const own = `dataset = '${dataset}' and location_id = ${locationId}`
  const nth = (number: number) => `id = (select id from ${table} where ${own} order by id limit 1 offset ${number - 1})`
  const altered = `replace(cast(attributes as text), 'Plan 1500', 'Plan fifteen hundred')`
  const statements = [
    `update ${table} set attributes = ${altered}${kind === 'postgres' ? '::json' : ''} where ${own} and ${nth(1500)}`,
    `delete from ${table} where ${own} and ${nth(2)}`,
    `insert into ${table} (dataset, location_id, id, attributes) values ('${dataset}', ${locationId}, 999999, '${JSON.stringify(stray)}')`,
  ]
  if (kind === 'sqlite') {
    const database = new DatabaseSync(target)
    for (const statement of statements) database.exec(statement)
    database.close()
    return
  }
  const database = new pg.Client({ connectionString: target })
  await database.connect()
  for (const statement of statements) await database.query(statement)
  await database.end()
}
