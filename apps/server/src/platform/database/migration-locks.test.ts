import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestDatabase } from './testing/test-database.ts'
import { findLongLocks, largeTables } from './testing/test-migration-locks.ts'

const folder = join(import.meta.dirname, 'migrations')
/** The first one makes the tables, when nobody uses them. */
const first = 1

test('no new migration holds a large table while all its rows are read or written', () => {
  const found = globSync('*.sql', { cwd: folder })
    .filter((name) => Number(name.slice(0, 4)) > first)
    .flatMap((name) => findLongLocks(readFileSync(join(folder, name), 'utf8')).map((each) => `${name}: ${each}`))
  assert.deepEqual(found, [])
})

test('each statement that holds a large table is found, and the way that does not is allowed', () => {
  const long = [
    'create index record_new on record (dataset)',
    'CREATE UNIQUE INDEX disclosure_new\n  ON cell_1.disclosure (id)',
    'alter table record add column seen_at timestamptz not null default clock_timestamp()',
    'alter table record add column key uuid default gen_random_uuid()',
    'alter table upload add number bigint generated always as identity',
    'alter table record alter column source set not null',
    'alter table record alter column id type numeric',
    'alter table record add constraint a check (id > 0)',
    'alter table record add foreign key (location_id) references location (id)',
    'alter table record add column patient_id bigint references record_patient (id)',
    'alter table vendor_request add unique (request_id)',
    'update record set source = document',
    'delete from audit_event where id < 1000',
    'lock table record in share mode',
  ]
  const short = [
    '-- Outside a transaction.\ncreate index concurrently record_new on record (dataset)',
    'alter table record add column seen_at timestamptz, add column n integer not null default 0',
    'alter table record add column seen_at timestamptz not null default now()',
    'alter table record add constraint a check (id > 0) not valid',
    'alter table record validate constraint a',
    'alter table record add constraint a unique using index record_new',
    '-- Lock: a few rows at most, by its index.\ndelete from audit_event where id < 1000',
    'create table notice_new (id bigint primary key);\ncreate index notice_new_id on notice_new (id)',
    'create index company_name on company (name)',
    'create function f() returns void language sql as $$ update record set id = 1; $$',
  ]
  assert.deepEqual(
    long.filter((sql) => findLongLocks(sql).length !== 1),
    [],
  )
  assert.deepEqual(
    short.filter((sql) => findLongLocks(sql).length !== 0),
    [],
  )
})

test('the large tables are tables', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  const { rows } = await ownerPool.query(
    `select tablename as name from pg_tables where schemaname = any(current_schemas(false))`,
  )
  const names = rows.map(({ name }) => name)
  assert.deepEqual(
    largeTables.filter((name) => !names.includes(name)),
    [],
  )
})
