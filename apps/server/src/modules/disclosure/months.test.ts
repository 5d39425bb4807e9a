import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type pg from 'pg'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { CompanyId, KeyPairId, LocationId } from '../../platform/identity/identity.ts'
import { makeDisclosureMonths } from './months.ts'
import { type DisclosureEntry, insertDisclosures, listDisclosures } from './store.ts'
import { makeMonthsBetween } from './testing/test-months.ts'

const entry: DisclosureEntry = {
  companyId: randomUUID() as CompanyId,
  keyPairId: randomUUID() as KeyPairId,
  locationId: '7' as LocationId,
  dataset: 'patients',
  notes: false,
  filters: {},
  coverage: { afterId: '0', lastId: '5' },
  records: 5,
  counted: null,
  digested: null,
  requestId: 'r',
  ip: '203.0.113.9',
}
const timeoutMs = 5_000

test('F29: a month has one pair of tables, however many processes make them at once, and nothing that writes waits for it', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  await dropMonths(ownerPool)
  const made = await Promise.all(Array.from({ length: 8 }, () => makeDisclosureMonths(pool)))
  assert.equal(
    made.reduce((sum, count) => sum + count, 0),
    3,
  )
  assert.equal(await makeDisclosureMonths(pool), 0)
  await dropMonths(ownerPool, 'and c.relname not like $1', [`%${(await monthsOf(ownerPool))[0]}`])
  const writing = await pool.connect()
  await writing.query('begin')
  await insertDisclosures(writing, [entry], { timeoutMs })
  assert.equal(await makeDisclosureMonths(pool), 2)
  await writing.query('commit')
  writing.release()
})

test('F29: a server whose clock is in a month without a table makes it and records the read: after months without a server, or a jump of the clock', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  await insertDisclosures(pool, [entry], { timeoutMs })
  await dropMonths(ownerPool)
  await Promise.all([1, 2, 3].map((n) => insertDisclosures(pool, [{ ...entry, requestId: `r${n}` }], { timeoutMs })))
  const found = await listDisclosures(pool, { limit: 10 })
  assert.deepEqual(found.map(({ requestId }) => requestId).toSorted(), ['r1', 'r2', 'r3'])
  assert.equal((await monthsOf(ownerPool)).length, 3)
  // What breaks a constraint is refused as before.
  await assert.rejects(insertDisclosures(pool, [{ ...entry, records: 0 }], { timeoutMs }), { code: '23514' })
})

test('F29: no table collects what has no month, and the server’s role makes no month but those at hand', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const late = (db: pg.Pool, day: string) =>
    db.query(
      `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, record_ids, request_id, ip)
       values ($1, $2, $2, 7, 'patients', '{}', 1, '{1}', 'r', '203.0.113.9')`,
      [day, entry.companyId],
    )
  for (const day of ['2019-03-31T23:59:59Z', '2100-01-01T00:00:00Z', 'infinity', '-infinity'])
    await assert.rejects(late(ownerPool, day), { code: '23514' }, day)
  await makeMonthsBetween(ownerPool, new Date('2019-03-01'), new Date('2019-03-01'))
  await late(ownerPool, '2019-03-31T23:59:59.999999Z')
  await assert.rejects(late(ownerPool, '2019-04-01T00:00:00Z'), { code: '23514' })
  for (const statement of [
    `select disclosure_make_month('2018-01-01')`,
    'select from monthly.disclosure_2019_03',
    'update monthly.disclosure_2019_03 set records = 2',
    'drop table monthly.disclosure_2019_03',
    'create table monthly.disclosure_2018_01 ()',
  ])
    await assert.rejects(pool.query(statement), { code: '42501' }, statement)
})

test('F29: a statement about a practice and some days reads the tables of their months alone', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  await makeMonthsBetween(ownerPool, new Date('2019-01-01'), new Date('2024-12-01'))
  const plan = async (text: string) => {
    const { rows } = await ownerPool.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const days = await plan(
    `select from disclosure where location_id = 7 and disclosed_at >= '2020-05-10' and disclosed_at < '2020-06-10'`,
  )
  assert.deepEqual([...new Set(days.match(/\bdisclosure_\d{4}_\d\d\b/g))].sort(), [
    'disclosure_2020_05',
    'disclosure_2020_06',
  ])
  await ownerPool.query('set enable_seqscan = off')
  const latest = await plan('select from disclosure where location_id = 7 order by disclosed_at desc limit 10')
  assert.match(latest, /^Limit\n *-> *Append/, 'the newest month first, and no sort')
})

async function monthsOf(owner: pg.Pool): Promise<string[]> {
  const { rows } = await owner.query<{ month: string }>(
    `select substr(tablename, length('disclosure_') + 1) as month from pg_tables
      where schemaname = 'monthly' and tablename like 'disclosure\\_%' order by 1`,
  )
  return rows.map(({ month }) => month)
}

async function dropMonths(owner: pg.Pool, but = '', values: unknown[] = []): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    `select format('monthly.%I', c.relname) as name from pg_class c
      where c.relnamespace = 'monthly'::regnamespace and c.relkind = 'r' ${but}`,
    values,
  )
  await owner.query(`drop table ${rows.map(({ name }) => name).join(', ')}`)
}
