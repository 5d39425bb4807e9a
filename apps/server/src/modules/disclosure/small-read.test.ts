import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatasetName, datasetNames, vendorApiPath } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { assertProblem, eventually } from '../../apis/vendor-api/testing/test-answer.ts'
import { namedStatementsOf } from '../../apis/vendor-api/testing/test-statements.ts'
import { createPool } from '../../platform/database/pool.ts'
import type { Log, LogEvent } from '../../platform/log/log-event.ts'
import { aPlan, aRecord, someWorld, type TestLocation, type TestVendor } from '../../testing/test-world.ts'
import { parseInstant } from '../datasets/instant.ts'
import { deltaOverlapMicros, type Stamp } from '../datasets/stamp.ts'
import { createSmallReader, smallDeltaMax, smallReadConnections } from './small-read.ts'
import { type Disclosure, listDisclosures } from './store.ts'

const dataset = 'insurance_plans' as DatasetName
const plansOf = ({ id }: { id: string }) => `/locations/${id}/${dataset}`
const read = 'small-reads'

const watermarkOf = async (vendor: TestVendor, path: string): Promise<string> =>
  (await vendor.get(path)).body.meta.next_fetch_modified_since ?? assert.fail('no watermark')
const stampOf = (watermark: string): Stamp => parseInstant(watermark) ?? assert.fail()
const noEvent: Log = ({ event }) => assert.fail(event)

test('a delta is answered and put on record alike, whether it is read with its permit or after it', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const plain = await world.addVendor([location])
  const noted = await world.addVendor()
  await world.grant(noted.companyId, location, datasetNames, { notes: true })
  const { id } = location
  const ask = async (vendor: TestVendor, path: string) => {
    const answer = await vendor.get(path)
    assert.equal(answer.status, 200, answer.text)
    const { request_id, ...meta } = answer.body.meta
    const found = await listDisclosures(world.pool, { locationId: id, companyId: vendor.companyId, limit: 1 })
    const [{ id: _id, disclosedAt: _at, requestId, ...disclosure } = {} as Disclosure] = found
    assert.equal(requestId, request_id)
    return { data: answer.body.data, pagy: answer.body.pagy, meta, disclosure, link: answer.headers.get('link') }
  }

  const records = { 1: aRecord('appointments', { note: 'Ünder "quotes",\n\\ and more' }), 2: aRecord('appointments') }
  assert.equal((await location.upload('appointments', { 0: aRecord('appointments') })).status, 200)
  const path = `/locations/${id}/appointments`
  // The first read of each draws a stamp, before which it would be given the whole dataset.
  for (const vendor of [plain, noted]) await watermarkOf(vendor, path)
  const since = `q[fetch_modified_since]=${await watermarkOf(plain, path)}`
  // In an order that is not that of their ids.
  assert.equal((await location.upload('appointments', records)).status, 200)
  assert.equal((await location.upload('appointments', { 1: { ...records[1], is_hidden: false } })).status, 200)

  for (const vendor of [plain, noted]) {
    for (const query of ['', '&items=5000', '&fields[appointment]=starts_at', '&fields[appointment]=note']) {
      const asked = () => ask(vendor, `${path}?${since}${query}`)
      const compared: Awaited<ReturnType<typeof ask>>[] = []
      const statements = async () => void compared.push(await asked())
      assert.ok((await namedStatementsOf(t, statements)).includes(read), query)
      world.seenStamps.note(id, 'appointments', 0)
      assert.ok(!(await namedStatementsOf(t, statements)).includes(read), query)
      const [together, apart] = compared
      assert.deepEqual(together, apart)
      assert.equal(together?.data.length, 2)
      assert.equal(together?.disclosure.records, 2)
      assert.equal(together?.disclosure.notes, vendor === noted && !query.includes('starts_at'))
    }
  }
})

test('a page of the whole dataset is answered and put on record alike, whether it is read with its permit or in a slot', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const plain = await world.addVendor([location])
  const noted = await world.addVendor()
  await world.grant(noted.companyId, location, datasetNames, { notes: true })
  const noteOf = (index: number) => aRecord('appointments', { note: `Note ${index}\n\\ "ü"` })
  const records = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`a${index}`, noteOf(index)]))
  assert.equal((await location.upload('appointments', records)).status, 200)
  assert.equal((await location.upload('appointments', { a3: null })).status, 200)
  const path = `/locations/${location.id}/appointments`

  const apart = await world.anotherServer({
    smallReadPool: { connect: () => Promise.reject(new Error('no connection')) } as unknown as Pool,
  })

  const ask = async (vendor: TestVendor, query: string, on = world.url) => {
    const headers = { authorization: `Bearer ${await vendor.token()}` }
    const answer = await world.request(`${vendorApiPath}${path}${query}`, { on, headers })
    assert.equal(answer.status, 200, answer.text)
    const { request_id, ...meta } = answer.body.meta
    const found = await listDisclosures(world.pool, { locationId: location.id, companyId: vendor.companyId, limit: 1 })
    const [{ id: _id, disclosedAt: _at, requestId, ...disclosure } = {} as Disclosure] = found
    return { data: answer.body.data, pagy: answer.body.pagy, meta, isOnRecord: requestId === request_id, disclosure }
  }
  for (const vendor of [plain, noted]) {
    // The company's first read draws a stamp, which the page must not be from before.
    const first = await ask(vendor, '?items=3')
    assert.equal((await listDisclosures(world.pool, { companyId: vendor.companyId, limit: 10 })).length, 1)
    const [, second = ''] = first.data.map(({ id }) => id)
    const last = (await ask(vendor, '')).data.at(-1)?.id ?? assert.fail()
    for (const query of [
      '?items=3',
      '?',
      '?items=100',
      `?items=2&after=${second}`,
      `?items=5&after=${second}`,
      '?items=7',
    ]) {
      for (const fields of ['', '&fields[appointment]=starts_at', '&fields[appointment]=note']) {
        const compared: Awaited<ReturnType<typeof ask>>[] = []
        const statements = (on: string) =>
          namedStatementsOf(t, async () => void compared.push(await ask(vendor, query + fields, on)))
        assert.ok((await statements(world.url)).includes(read), query + fields)
        assert.ok((await statements(apart.url)).includes('disclosure-record'), query + fields)
        const [together, other] = compared
        assert.deepEqual(together, other)
        assert.ok(together?.isOnRecord)
        assert.equal(together.disclosure.notes, vendor === noted && !fields.includes('starts_at'))
      }
    }
    // Nothing follows: nothing is sent, and nothing put on record.
    const none = await ask(vendor, `?items=3&after=${last}`)
    assert.deepEqual([none.data, none.isOnRecord], [[], false])
  }
})

test('many of several companies and locations at once get each its own; refusals are those of the permit', async (t) => {
  const world = await someWorld(t)
  const locations = await Promise.all([1, 2, 3].map(() => world.addLocation({ insurancePlans: 1 })))
  // One after the other: a company is named after how many there are.
  const vendors = [await world.addVendor(locations), await world.addVendor(locations.slice(0, 2))]
  const paths = new Map<TestLocation, string>()
  for (const location of locations) {
    for (const vendor of vendors) await vendor.get(plansOf(location))
    const since = await watermarkOf(vendors[0] ?? assert.fail(), plansOf(location))
    paths.set(location, `${plansOf(location)}?q[fetch_modified_since]=${since}`)
    const count = locations.indexOf(location) + 1
    const changed = Array.from({ length: count }, (_, index) => [`n${index}`, aPlan({ plan_name: location.id })])
    await location.upload(dataset, Object.fromEntries(changed))
  }
  const asked = Array.from({ length: 60 }, async (_, index) => {
    const location = locations[index % 3] ?? assert.fail()
    const vendor = vendors[index % 2]
    const answer = (await vendor?.get(paths.get(location) ?? '')) ?? assert.fail()
    if (vendor === vendors[1] && location === locations[2]) return assertProblem(answer, 'location_denied')
    assert.deepEqual(
      answer.body.data.map(({ attributes }) => attributes.plan_name),
      Array.from({ length: locations.indexOf(location) + 1 }, () => location.id),
    )
  })
  const statements = await namedStatementsOf(t, () => Promise.all(asked))
  assert.ok(statements.filter((name) => name === read).length < asked.length, statements.join())
  const { rows } = await world.pool.query(`select count(*)::int as count, sum(records)::int as records
     from disclosure where record_ids is not null`)
  // Twenty of each location, ten of them refused at the third.
  assert.deepEqual(rows, [{ count: 50, records: 20 + 20 * 2 + 10 * 3 }])
})

test('of what may not be read, or not yet, no record is read and nothing is put on record', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 2 })
  const vendor = await world.addVendor([location])
  const foreign = await world.addVendor()
  const since = stampOf(await watermarkOf(vendor, plansOf(location)))
  const modifiedAfter = since - deltaOverlapMicros
  await location.upload(dataset, { new: aPlan() })
  const tokenOf = async (of: TestVendor) => world.tokens.verify(await of.token())

  const usual = {
    token: await tokenOf(vendor),
    id: location.id as string,
    modifiedAfter: modifiedAfter as Stamp | null,
    items: smallDeltaMax,
    locationsMax: 10,
  }
  const outcome = async (changes: Partial<typeof usual> & { before?: string } = {}) => {
    const asked = { ...usual, ...changes }
    return await inTransaction(world.pool, changes.before, async (client) => {
      const begun = await countsOf(client)
      const { pool } = world
      const smallReadPool = { connect: async () => client } as unknown as Pool
      const deltas = createSmallReader({ pool, smallReadPool, controlPool: pool, log: noEvent })
      const answer = await deltas
        .permit(asked.token, asked.id, dataset, {
          modifiedAfter: asked.modifiedAfter,
          after: '0',
          items: asked.items,
          locationsMax: asked.locationsMax,
          filters: {},
          asksForNotes: false,
          requestId: 'a-request',
          ip: '203.0.113.7',
        })
        .catch((problem: { code: string }) => problem.code)
      const found = typeof answer === 'string' ? answer : (answer.read?.documents.length ?? null)
      const now = await countsOf(client)
      return { found, read: now.read - begun.read, written: now.written - begun.written }
    })
  }

  assert.deepEqual(await outcome(), { found: 1, read: 1, written: 1 })
  const nothing = { read: 0, written: 0 }
  assert.deepEqual(await outcome({ modifiedAfter: since + 60_000_000 }), { found: null, ...nothing }, 'unchanged')
  assert.deepEqual(await outcome({ modifiedAfter: 1 }), { found: null, ...nothing }, 'before the grant')
  assert.deepEqual(await outcome({ locationsMax: 0 }), { found: null, ...nothing }, 'no slot is free')
  assert.deepEqual(await outcome({ id: '7' }), { found: 'location_unknown', ...nothing })
  assert.deepEqual(await outcome({ token: await tokenOf(foreign) }), { found: 'location_denied', ...nothing })
  const refusedAfter = {
    token_invalid: ['update key_pair set revoked_at = now()', `update company set state = 'suspended'`],
    agreement_required: ['delete from agreement_acceptance'],
    location_denied: ['update dataset_grant set ends_at = now()'],
    dataset_denied: [`delete from dataset_grant where dataset = '${dataset}'`],
  }
  for (const [code, statements] of Object.entries(refusedAfter)) {
    for (const before of statements) assert.deepEqual(await outcome({ before }), { found: code, ...nothing }, before)
  }

  // Read, and left to the statement that makes its disclosure durable by itself.
  const before = 'set local synchronous_commit = off'
  assert.deepEqual(await outcome({ before }), { found: 1, read: 1, written: 0 })
  const page = { modifiedAfter: null, items: 2 }
  assert.deepEqual(await outcome({ ...page, before }), { found: 3, read: 3, written: 0 })
  assert.deepEqual(await outcome(page), { found: 3, read: 3, written: 1 }, 'one more says that another page follows')
  assert.deepEqual(await outcome({ ...page, locationsMax: 0 }), { found: null, ...nothing }, 'no slot is free')
  for (const [code, statements] of Object.entries(refusedAfter))
    for (const before of statements)
      assert.deepEqual(await outcome({ ...page, before }), { found: code, ...nothing }, before)

  // A walk of one record more than there may be, none of which is handed out.
  const many = Array.from({ length: smallDeltaMax }, (_, index) => [`m${index}`, aPlan()])
  await location.upload(dataset, Object.fromEntries(many))
  assert.deepEqual(await outcome(), { found: null, read: smallDeltaMax + 1, written: 0 })
})

test('while the disclosures are locked a delta and a page are refused as ever, and who has nothing to disclose does not wait', async (t) => {
  const world = await someWorld(t)
  const [changed, unchanged] = [await world.addLocation({ insurancePlans: 1 }), await world.addLocation()]
  const vendor = await world.addVendor([changed, unchanged])
  const since = `?q[fetch_modified_since]=${await watermarkOf(vendor, plansOf(changed))}`
  const empty = `${plansOf(unchanged)}?q[fetch_modified_since]=${await watermarkOf(vendor, plansOf(unchanged))}`
  await changed.upload(dataset, { new: aPlan() })
  const names = () => world.events.filter(({ event }) => event === 'task.failed' || event === 'disclosure.failed')
  const answer = await vendor.get(plansOf(changed) + since)
  assert.equal(answer.body.data.length, 1)
  assert.deepEqual(names(), [])

  const owner = await world.ownerPool.connect()
  await owner.query('begin; lock table disclosure in access exclusive mode')
  try {
    const begunAt = performance.now()
    const refused = Promise.all(
      Array.from({ length: 8 }, (_, index) => vendor.get(plansOf(changed) + (index % 2 === 0 ? since : ''))),
    )
    await eventually(async () => names().length > 0, 2_000, 'the statement gives the lock up')
    assert.deepEqual(names()[0], { event: 'task.failed', task: 'small reads', error: '55P03' })
    assert.equal((await vendor.get(empty)).status, 200)
    assert.ok(performance.now() - begunAt < 2_000)
    for (const each of await refused) assertProblem(each, 'disclosure_unavailable')
    assert.ok(performance.now() - begunAt < 5_000)
  } finally {
    await owner.query('rollback')
    owner.release()
  }
  assert.deepEqual(await namedStatementsOf(t, () => vendor.get(plansOf(changed) + since)), [read])
})

test('while its connection is away each permit is asked for alone, and the log says so once a minute', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  const token = await world.tokens.verify(await vendor.token())
  const events: LogEvent[] = []
  const away = { connect: () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })) }
  const { pool } = world
  const smallReadPool = away as unknown as Pool
  const deltas = createSmallReader({ pool, smallReadPool, controlPool: pool, log: (event) => events.push(event) })
  const ask = () =>
    deltas.permit(token, location.id, dataset, {
      ...{ modifiedAfter: null, after: '0', items: 10, locationsMax: 10, filters: {}, asksForNotes: false },
      ...{ requestId: 'a-request', ip: '::1' },
    })
  const failed = { event: 'task.failed', task: 'small reads', error: 'ECONNREFUSED' }
  for (let time = 0; time < 5; time += 1) assert.equal((await ask()).read, null)
  assert.deepEqual(events, [failed])
  const later = performance.now() + 60_000
  t.mock.method(performance, 'now', () => later)
  await ask()
  assert.deepEqual(events, [failed, failed])
})

test('the statement is planned once for a connection', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 300 })
  const vendor = await world.addVendor([location])
  const since = await watermarkOf(vendor, plansOf(location))
  await location.upload(dataset, { new: aPlan() })
  await world.ownerPool.query('analyze')
  await inTransaction(world.pool, undefined, async (client) => {
    const { pool } = world
    const smallReadPool = { connect: async () => client } as unknown as Pool
    const deltas = createSmallReader({ pool, smallReadPool, controlPool: pool, log: noEvent })
    const token = await world.tokens.verify(await vendor.token())
    for (let time = 0; time < 20; time += 1) {
      const { read } = await deltas.permit(token, location.id, dataset, {
        modifiedAfter: stampOf(since) - deltaOverlapMicros,
        after: '0',
        items: smallDeltaMax,
        locationsMax: 10,
        filters: {},
        asksForNotes: true,
        requestId: `r${time}`,
        ip: '::1',
      })
      assert.equal(read?.documents.length, 1)
    }
    const { rows } = await client.query<{ custom: number }>(
      'select custom_plans::int as custom from pg_prepared_statements where name = $1',
      [read],
    )
    // PostgreSQL always tries the first five with their values.
    assert.deepEqual(rows, [{ custom: 5 }])
  })
})

test('a disclosure with a delta is durable, whatever the database says', async (t) => {
  const world = await someWorld(t)
  const { rows } = await world.ownerPool.query<{ name: string }>('select current_database() as name')
  await world.ownerPool.query(`alter database ${rows[0]?.name} set synchronous_commit = off`)
  const options = { log: noEvent, applicationName: 'deltas' }
  const smallReadPool = createPool(world.serverUrl, { ...options, ...smallReadConnections })
  t.after(() => smallReadPool.end())
  assert.deepEqual((await smallReadPool.query('show synchronous_commit')).rows, [{ synchronous_commit: 'on' }])
})

/** How many rows of records this session has read and of disclosures it has written. Those of transactions before may be among them. */
async function countsOf(client: PoolClient): Promise<{ read: number; written: number }> {
  const { rows } = await client.query<{ read: number; written: number }>(
    `select coalesce(sum(idx_tup_fetch + seq_tup_read) filter (where relname = 'record'), 0)::int as read,
            coalesce(sum(n_tup_ins) filter (where relname ~ '^disclosure'), 0)::int as written
       from pg_stat_xact_user_tables`,
  )
  return rows[0] ?? assert.fail()
}

/** On one connection, which is not given back meanwhile, in a transaction that is undone. `before` is run as its first statement. */
async function inTransaction<T>(pool: Pool, before: string | undefined, work: (client: PoolClient) => Promise<T>) {
  const client = await pool.connect()
  const release = client.release.bind(client)
  client.release = () => {}
  try {
    await client.query('begin')
    if (before !== undefined) await client.query(before)
    return await work(client)
  } finally {
    await client.query('rollback')
    release()
  }
}
