import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { markRestored } from '../../../../apps/server/src/apis/operator/installation/database-restored.ts'
import { takeSnapshot } from '../../../../apps/server/src/platform/database/testing/test-snapshot.ts'
import { ApiError } from '../api-error.ts'
import { all, aPlan, aRecord, aSchedule, clientOf, someClient } from '../testing/test-client.ts'
import type { SyncPage, SyncStore } from './store.ts'
import { assertEqualCopy, openStore, type StoreKind, someTarget, storeKinds } from './testing/test-mirror.ts'

const aCharge = () => aRecord('ledger_transactions', { amount: '100.00' })
const named = <Item>(prefix: string, count: number, make: () => Item) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index + 1}`, make()]))

for (const kind of storeKinds) {
  test(`K37: ${kind}: ten charges in a backup and five later ones, which come again with other ids, are fifteen in the copy, of 1,500.00`, async (t) => {
    const { world, client, location } = await someClient(t)
    await location.upload('ledger_transactions', named('in backup ', 10, aCharge))
    const store = await openStore(kind, await someTarget(t, kind))
    await client.sync({ store })
    const backup = await takeSnapshot(world.ownerPool, 'backup')
    await location.upload('ledger_transactions', named('later ', 5, aCharge))
    await client.sync({ store })
    assert.deepEqual(await charges(store, location.id), { records: 15, amount: 1_500 })

    await backup.restore()
    await markRestored(world.pool)
    await location.upload('ledger_transactions', named('later ', 5, aCharge))
    const report = await client.sync({ store })

    assert.deepEqual(await charges(store, location.id), { records: 15, amount: 1_500 })
    assert.ok(report.restored.some(({ dataset }) => dataset === 'ledger_transactions'))
    const verified = await client.verify({ store, repair: false })
    assert.ok(verified.every(({ serverDigest, storeDigest, wrongRows }) => serverDigest === storeDigest && !wrongRows))
    const again = await client.sync({ store })
    assert.deepEqual([again.restored, again.records], [[], 0])
    await store.close()
  })

  test(`K37: ${kind}: whatever is restored, killed and read in between, a copy ends equal`, async (t) => {
    await anyHistory(t, kind)
  })

  test(`K37: ${kind}: a location that the service lost leaves the copy, and one that is not granted any more stays`, async (t) => {
    const { world, vendor, client, locations } = await someClient(t, { locations: 2, insurancePlans: 3 })
    const [kept, ended] = locations
    if (!kept || !ended) throw new Error('two locations')
    const target = await someTarget(t, kind)
    const store = await openStore(kind, target)
    await client.sync({ store })
    const backup = await takeSnapshot(world.ownerPool, 'backup')
    const lost = await world.addLocation({ organizationId: kept.organizationId, insurancePlans: 4 })
    await world.grant(vendor.companyId, lost)
    assert.equal((await client.sync({ store })).records, 4)

    await backup.restore()
    await markRestored(world.pool)
    await world.revoke(vendor.companyId, ended)
    const again = await world.addLocation({ organizationId: kept.organizationId, insurancePlans: 4 })
    await world.grant(vendor.companyId, again)
    const report = await client.sync({ store })

    assert.deepEqual(new Set(report.lost.map(({ locationId }) => locationId)), new Set([lost.id]))
    assert.deepEqual(new Set(report.revoked.map(({ locationId }) => locationId)), new Set([ended.id]))
    await assertEqualCopy(client, store, [kept.id, again.id])
    const of = (locationId: string) => all(store.read({ locationId, dataset: 'insurance_plans' }))
    assert.deepEqual([(await of(lost.id)).length, (await of(ended.id)).length], [0, 3])
    assert.deepEqual((await client.sync({ store })).lost, [])
    await store.close()
    if (kind !== 'sqlite') return
    const database = new DatabaseSync(target)
    for (const [table, id] of Object.entries({ insurance_plans: 'location_id', locations: 'id' }))
      assert.deepEqual(database.prepare(`select * from ${table} where ${id} = ${lost.id}`).all(), [])
    database.close()
  })
}

test('K37: a list, its bytes and an export that are read over a restore end with an error, not as if they were whole', async (t) => {
  const { world, client, location } = await someClient(t, { insurancePlans: 9 })
  const asked = { locationId: location.id, pageSize: 2 }
  const isChanged = (error: unknown) => error instanceof ApiError && error.code === 'epoch_changed'
  for (const pages of [client.insurancePlans.list(asked).pages(), client.insurancePlans.bytes(asked)]) {
    await pages.next()
    await markRestored(world.pool)
    await assert.rejects(pages.next(), isChanged)
  }
  // The first response ends after its first page, as one that is cut does.
  const cutting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!String(input).endsWith('/export')) return response
    const lines = (await response.text()).split('\n').slice(0, 4)
    await markRestored(world.pool)
    const last = JSON.stringify({ meta: { has_more: true, next_after: JSON.parse(lines.at(-1) ?? '').id } })
    return new Response(`${[...lines, last].join('\n')}\n`, response)
  }
  const { clientId, clientSecret } = await world.addVendor([location])
  const other = clientOf(world, { clientId, clientSecret } as never, { fetch: cutting })
  const ids: string[] = []
  const read = async () => {
    for await (const { records } of other.insurancePlans.export({ ...asked, pageSize: 4 }))
      ids.push(...records.map((record) => JSON.parse(Buffer.from(record).toString()).id))
  }
  await assert.rejects(read(), isChanged)
  assert.equal(ids.length, 4)
})

test('K37: a service that nobody marked as restored is said to be so at once, and nothing is taken out', async (t) => {
  const { world, client, location, events } = await someClient(t, { insurancePlans: 3 })
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
  await client.sync({ store })
  const backup = await takeSnapshot(world.ownerPool, 'backup')
  await location.upload('insurance_plans', { later: aPlan() })
  await client.sync({ store })
  await backup.restore()
  events.length = 0
  const report = await client.sync({ store })
  assert.deepEqual(
    report.failed.map(({ dataset, error }) => [dataset, error.code, error.attempts]),
    [['insurance_plans', 'restore_unmarked', 1]],
  )
  assert.equal((await all(store.read({ locationId: location.id, dataset: 'insurance_plans' }))).length, 4)
  await markRestored(world.pool)
  await client.sync({ store })
  await assertEqualCopy(client, store, [location.id])
  await store.close()
})

test('K37: a first walk and a delta that a restore interrupts begin anew, and are right at once', async (t) => {
  for (const isDelta of [false, true]) {
    const { world, client, location } = await someClient(t)
    await location.upload('insurance_plans', named('a', 3, aPlan))
    const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
    if (isDelta) await client.sync({ store })
    const backup = await takeSnapshot(world.ownerPool, 'backup')
    await location.upload('insurance_plans', {
      ...named('a', 3, () => aPlan({ plan_name: 'Lost' })),
      ...named('b', 4, aPlan),
    })
    const stop = new AbortController()
    const onEvent = ({ event }: { event: string }) => void (event === 'page' && stop.abort(new Error('enough')))
    await assert.rejects(client.sync({ store, pageSize: 4, signal: stop.signal, onEvent }), /enough/)

    await backup.restore()
    await markRestored(world.pool)
    await location.upload('insurance_plans', named('c', 2, aPlan))
    const { restored } = await client.sync({ store, pageSize: 4 })

    await assertEqualCopy(client, store, [location.id])
    assert.ok(restored.some(({ dataset }) => dataset === 'insurance_plans'))
    await store.close()
  }
})

test('K37: an epoch that the service is not told, and does not know by its stamps, is seen in its answer', async (t) => {
  const { world, vendor, location } = await someClient(t, { insurancePlans: 2 })
  // A proxy that lets no header through that it does not know.
  const client = clientOf(world, vendor, {
    fetch: (input, init) => {
      const headers = new Headers(init?.headers)
      headers.delete('x-epoch')
      return fetch(input, { ...init, headers })
    },
  })
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
  await client.sync({ store })
  const backup = await takeSnapshot(world.ownerPool, 'backup')
  await location.upload('insurance_plans', { lost: aPlan() })
  await client.sync({ store })
  await backup.restore()
  await markRestored(world.pool)
  await world.pool.query('update dataset_state set first_stamp = 1')
  await client.sync({ store })
  await assertEqualCopy(client, store, [location.id])
  await store.close()
})

test('K37: a stray leaves the rows of its own location alone, also where another one has its id', async (t) => {
  const { world, client, locations } = await someClient(t, { locations: 2 })
  const [one, other] = locations
  if (!one || !other) throw new Error('two locations')
  const target = await someTarget(t, 'sqlite')
  const store = await openStore('sqlite', target)
  const backup = await takeSnapshot(world.ownerPool, 'backup')
  await one.upload('insurance_plans', { lost: aPlan() })
  await client.sync({ store })
  // Before the restore is marked, ids are given a second time.
  await backup.restore()
  await other.upload('insurance_plans', { new: aPlan({ plan_name: 'New' }) })
  await markRestored(world.pool)
  await client.sync({ store, locations: [other.id] })
  await client.sync({ store })
  assert.deepEqual(
    (await client.verify({ store, repair: false })).map(({ stray, wrongRows }) => stray + wrongRows),
    Array.from({ length: 14 }, () => 0),
  )
  await store.close()
})

test('a service of a release without epochs is mirrored as before', async (t) => {
  const { world, vendor, location } = await someClient(t, { insurancePlans: 5 })
  const earlier: typeof fetch = async (input, init) => {
    assert.equal(new Headers(init?.headers).get('x-epoch'), null)
    const response = await fetch(input, init)
    const text = (await response.text()).replace(/"restored_at":null,/, '').replace(/"epoch":"[^"]*",/, '')
    const headers = new Headers(response.headers)
    for (const name of ['x-epoch', 'content-encoding', 'content-length']) headers.delete(name)
    return new Response(text, { status: response.status, headers })
  }
  const client = clientOf(world, vendor, { fetch: earlier })
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
  await client.sync({ store, pageSize: 2 })
  await location.upload('insurance_plans', { p1: null, p9: aPlan() })
  assert.equal((await client.sync({ store, pageSize: 2 })).records, 2)
  assert.equal((await client.sync({ store })).records, 0)
  await assertEqualCopy(clientOf(world, vendor), store, [location.id])
  await store.close()
})

async function charges(store: SyncStore, locationId: string) {
  const records = await all(store.read({ locationId, dataset: 'ledger_transactions' }))
  return {
    records: records.length,
    amount: records.reduce((sum, { attributes }) => sum + Number(attributes.amount), 0),
  }
}

type Step =
  | { do: 'upload'; dataset: 'insurance_plans' | 'fee_schedules'; keys: number[]; isRemoval: boolean }
  | { do: 'back up' }
  | { do: 'restore' }
  /** A sync that is killed at that page, before or after it is written; a restore may happen at that request. */
  | { do: 'sync'; killAt: number; isWritten: boolean; restoreAt: number | null }
  /** As if the copy had been made by a release without epochs. */
  | { do: 'forget epochs' }

const keys = fc.array(fc.nat(12), { minLength: 1, maxLength: 6 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('upload' as const),
      dataset: fc.constantFrom('insurance_plans' as const, 'fee_schedules' as const),
      keys,
      isRemoval: fc.nat(4).map((number) => number === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('sync' as const),
      killAt: fc.integer({ min: 1, max: 12 }),
      isWritten: fc.boolean(),
      restoreAt: fc.option(fc.integer({ min: 1, max: 12 }), { freq: 2, nil: null }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'restore' } as const) },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'back up' } as const, { do: 'forget epochs' } as const) },
)

const sync = (killAt: number, isWritten = true, restoreAt: number | null = null): Step => ({
  do: 'sync',
  killAt,
  isWritten,
  restoreAt,
})
const upload = (keys: number[]): Step => ({ do: 'upload', dataset: 'insurance_plans', keys, isRemoval: false })

/** A copy of more than the service has after a restore, which is killed in the middle of becoming right. */
const killedInRepair: Step[] = [
  upload([1, 2, 3, 4, 5, 6, 7]),
  { do: 'back up' },
  upload([8, 9]),
  sync(99),
  { do: 'restore' },
  sync(2),
  sync(1, false),
]
/** Then the service is restored once more, to what it had first. */
const restoredInRepair: Step[] = [...killedInRepair, { do: 'restore' }, upload([10, 11]), sync(99, true, 3)]

/** Histories in one world: what one leaves behind is where the next one begins. */
async function anyHistory(t: TestContext, kind: StoreKind): Promise<void> {
  const { world, vendor, location } = await someClient(t)
  const target = await someTarget(t, kind)
  await (await openStore(kind, target)).close()
  let backup = await takeSnapshot(world.ownerPool, 'backup')
  const restore = async () => {
    await backup.restore()
    await markRestored(world.pool)
  }
  let version = 0
  const seen = { restores: 0, kills: 0, restored: 0 }
  const take = async (each: Step) => {
    switch (each.do) {
      case 'upload': {
        version += 1
        const name = `Version ${version}`
        const record = each.dataset === 'insurance_plans' ? aPlan({ plan_name: name }) : aSchedule({ name })
        const attributes = each.isRemoval ? null : record
        const answer = await location.upload(
          each.dataset,
          Object.fromEntries(each.keys.map((key) => [String(key), attributes])),
        )
        return assert.equal(answer.status, 200, answer.text)
      }
      case 'back up':
        backup = await takeSnapshot(world.ownerPool, 'backup')
        return
      case 'restore':
        seen.restores += 1
        return await restore()
      case 'forget epochs':
        return kind === 'sqlite' ? forgetEpochs(target) : undefined
      case 'sync': {
        let requests = 0
        const restoring: typeof fetch = async (input, init) => {
          requests += 1
          if (requests === each.restoreAt) await restore()
          return fetch(input, init)
        }
        const store = await openStore(kind, target)
        let pages = 0
        const killed = new Error('killed')
        const dying: SyncStore = {
          ...store,
          async apply(page: SyncPage) {
            pages += 1
            const isLast = pages >= each.killAt
            if (!isLast || each.isWritten) await store.apply(page)
            if (isLast) throw killed
          },
        }
        const client = clientOf(world, vendor, { fetch: restoring })
        const datasets = ['insurance_plans', 'fee_schedules'] as const
        const ended = await client.sync({ store: dying, datasets, pageSize: 2 }).then(
          ({ restored }) => {
            seen.restored += restored.length
          },
          (error: unknown) => error,
        )
        if (ended === killed) seen.kills += 1
        // A list of locations that was read over a restore says so.
        else if (ended instanceof ApiError) assert.equal(ended.code, 'epoch_changed')
        else assert.equal(ended, undefined)
        return await store.close()
      }
    }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
      for (const each of steps) await take(each)
      const store = await openStore(kind, target)
      const client = clientOf(world, vendor)
      for (const pageSize of [3, 3]) assert.deepEqual((await client.sync({ store, pageSize })).failed, [])
      await assertEqualCopy(client, store, [location.id])
      for (const { wrongRows } of await client.verify({ store, repair: false })) assert.equal(wrongRows, 0)
      await store.close()
    }),
    {
      examples: [[killedInRepair], [restoredInRepair]],
      numRuns: Number(process.env.BRIDGEWORK_TEST_RESTORES ?? 4),
      endOnFailure: true,
    },
  )
  t.diagnostic(JSON.stringify(seen))
  assert.ok(seen.kills > 0 && seen.restored > 0)
}

function forgetEpochs(file: string): void {
  const database = new DatabaseSync(file)
  for (const { rowid, position } of database.prepare('select rowid, position from sync_position').all()) {
    const { epoch: _, walk, ...rest } = JSON.parse(String(position))
    // Such a release never took anything out.
    if (typeof walk?.strayAfter === 'string') continue
    const left = walk && { since: walk.since, after: walk.after, watermark: walk.watermark, pageSize: walk.pageSize }
    database
      .prepare('update sync_position set position = ? where rowid = ?')
      .run(JSON.stringify({ ...rest, walk: left }), rowid ?? null)
  }
  database.close()
}
