import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type KeyPairId, type LocationId, newUuid } from '../../platform/identity/identity.ts'
import type { LogEvent } from '../../platform/log/log-event.ts'
import { type DisclosureEntry, listDisclosures } from './store.ts'
import { createDisclosureWriter } from './writer.ts'

function someEntry(changes: Partial<DisclosureEntry> = {}): DisclosureEntry {
  return {
    companyId: newUuid<CompanyId>(),
    keyPairId: newUuid<KeyPairId>(),
    locationId: '123456789012345' as LocationId,
    dataset: 'insurance_plans',
    notes: false,
    filters: {},
    coverage: { afterId: '0', lastId: '5000' },
    records: 5000,
    counted: null,
    digested: null,
    requestId: 'a-request',
    ip: '203.0.113.7',
    ...changes,
  }
}

const refused = (error: unknown) =>
  error instanceof Problem && error.code === 'disclosure_unavailable' && Number(error.retryAfterSeconds) >= 1

test('what was recorded is there for everyone, as it was handed over, newest first', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const writer = createDisclosureWriter({ pool, log: () => {} })
  const page = someEntry()
  const delta = someEntry({
    companyId: page.companyId,
    filters: { fetch_modified_since: '2026-01-02T03:04:05.123456Z' },
    coverage: { ids: ['7', '9223372036854775807'] },
    records: 2,
    ip: '2001:db8::1',
  })
  await writer.record(page)
  await writer.record(delta)
  const [second, first] = await listDisclosures(ownerPool, { companyId: page.companyId, limit: 10 })
  assert.ok(first && second)
  const { id: _id, disclosedAt, ...fields } = first
  assert.deepEqual(fields, page)
  assert.ok(Math.abs(disclosedAt.getTime() - Date.now()) < 60_000)
  assert.deepEqual(second.coverage, delta.coverage)
  assert.deepEqual(second.filters, delta.filters)
  assert.equal(second.ip, '2001:db8::1')
})

test('disclosures are found by location, company and time', async (t) => {
  const { pool } = await createTestDatabase(t)
  const writer = createDisclosureWriter({ pool, log: () => {} })
  const [here, there] = ['1', '2'] as [LocationId, LocationId]
  const mine = newUuid<CompanyId>()
  for (const locationId of [here, there, here]) await writer.record(someEntry({ locationId, companyId: mine }))
  await writer.record(someEntry({ locationId: here }))
  const find = async (filter: Omit<Parameters<typeof listDisclosures>[1], 'limit'>, limit = 10) =>
    (await listDisclosures(pool, { ...filter, limit })).length
  assert.equal(await find({}), 4)
  assert.equal(await find({}, 3), 3)
  assert.equal(await find({ locationId: here }), 3)
  assert.equal(await find({ companyId: mine }), 3)
  assert.equal(await find({ locationId: here, companyId: mine }), 2)
  assert.equal(await find({ since: new Date(Date.now() + 60_000) }), 0)
  assert.equal(await find({ since: new Date(Date.now() - 60_000), locationId: there }), 1)
})

test('entries that come while one is being written share the next commit, and each resolves only when it is on record', async (t) => {
  const { pool } = await createTestDatabase(t)
  let queries = 0
  const query = (...args: Parameters<Pool['query']>) => {
    queries += 1
    return pool.query(...args)
  }
  const writer = createDisclosureWriter({ pool: { query } as Pick<Pool, 'query'>, log: () => {} })
  const entries = Array.from({ length: 300 }, (_, index) => someEntry({ requestId: `request ${index}` }))
  const first = writer.record(entries[0] as DisclosureEntry)
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([
    first,
    ...entries.slice(1).map(async (entry) => {
      await writer.record(entry)
      const { rowCount } = await pool.query('select from disclosure where request_id = $1', [entry.requestId])
      assert.equal(rowCount, 1)
    }),
  ])
  assert.equal(queries, 2)
  const listed = await listDisclosures(pool, { limit: 1000 })
  // The first was on its way when the others came: of what goes at the same time, either is the earlier one.
  assert.deepEqual(
    listed
      .map((disclosure) => disclosure.requestId)
      .filter((requestId) => requestId !== 'request 0')
      .reverse(),
    entries.slice(1).map((entry) => entry.requestId),
  )
  assert.equal(listed.length, entries.length)
})

test('F19: while the table is locked reads are refused in time, and afterwards nothing is left waiting', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const events: LogEvent[] = []
  const writer = createDisclosureWriter({ pool, log: (event) => events.push(event), maxWaitMs: 400 })
  const owner = await ownerPool.connect()
  await owner.query('begin; lock table disclosure in access exclusive mode')
  const began = performance.now()
  const answers = await Promise.allSettled(
    Array.from({ length: 50 }, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      await writer.record(someEntry())
    }),
  )
  assert.ok(answers.every((answer) => answer.status === 'rejected' && refused(answer.reason)))
  assert.ok(performance.now() - began < 1_500)
  await writer.flush()
  const waiting = await owner.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  assert.equal(waiting.rowCount, 0)
  assert.ok(events.some((event) => event.event === 'disclosure.failed'))
  await owner.query('rollback')
  owner.release()
  await writer.record(someEntry({ requestId: 'after' }))
  assert.deepEqual(
    (await listDisclosures(pool, { limit: 10 })).map((disclosure) => disclosure.requestId),
    ['after'],
  )
})

test('while the table is missing reads are refused', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const writer = createDisclosureWriter({ pool, log: () => {} })
  await ownerPool.query('alter table disclosure rename to disclosure_gone')
  await assert.rejects(writer.record(someEntry()), refused)
  await ownerPool.query('alter table disclosure_gone rename to disclosure')
  await writer.record(someEntry())
})

test('a database that does not answer refuses each read after its own wait, and more than may wait at once', async () => {
  const pending = Promise.withResolvers<never>()
  const pool = { query: () => pending.promise } as unknown as Pick<Pool, 'query'>
  const writer = createDisclosureWriter({ pool, log: () => {}, maxWaitMs: 100, waitingMax: 3 })
  const underWay = writer.record(someEntry())
  await new Promise((resolve) => setImmediate(resolve))
  const waiting = [1, 2, 3].map(() => writer.record(someEntry()))
  await assert.rejects(
    writer.record(someEntry()),
    (error) => refused(error) && (error as Problem).because === 'disclosure: too many waiting',
  )
  for (const one of [underWay, ...waiting]) await assert.rejects(one, refused)
  pending.reject(new Error('over'))
  await writer.stop()
  await assert.rejects(writer.record(someEntry()), refused)
})

test('an entry that the database does not take refuses its own read alone', async (t) => {
  const { pool } = await createTestDatabase(t)
  const writer = createDisclosureWriter({ pool, log: () => {} })
  const answers = await Promise.allSettled([
    writer.record(someEntry()),
    writer.record(someEntry({ records: 0 })),
    writer.record(someEntry({ ip: 'nowhere' })),
    writer.record(someEntry()),
  ])
  assert.deepEqual(
    answers.map((answer) => answer.status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.equal((await listDisclosures(pool, { limit: 10 })).length, 2)
})

test('a disclosure is durable before its read is answered, whatever the session says', async (t) => {
  const { pool } = await createTestDatabase(t)
  const client = await pool.connect()
  for (const [given, durable] of [
    ['off', 'on'],
    // What also waits for a standby, or only for the own disk, was chosen so.
    ['remote_apply', 'remote_apply'],
    ['local', 'local'],
  ]) {
    await client.query(`begin; set local synchronous_commit = ${given}`)
    await client.query(`select disclosure_record('[]', 1000)`)
    assert.equal((await client.query('show synchronous_commit')).rows[0].synchronous_commit, durable)
    await client.query('rollback')
  }
  client.release()
})

test('the server’s role adds and reads disclosures, and cannot change or remove one', async (t) => {
  const { pool } = await createTestDatabase(t)
  await createDisclosureWriter({ pool, log: () => {} }).record(someEntry())
  for (const statement of [
    'update disclosure set records = 1',
    'delete from disclosure',
    'truncate disclosure',
    'drop table disclosure',
    'alter table disclosure disable trigger all',
    'alter table disclosure drop column ip',
    'select * from disclosure for update',
  ]) {
    await assert.rejects(pool.query(statement), { code: '42501' }, statement)
  }
  const [left] = await listDisclosures(pool, { limit: 10 })
  assert.equal(left?.records, 5000)
})
