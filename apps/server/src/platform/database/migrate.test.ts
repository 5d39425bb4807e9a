import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { LogEvent } from '../log/log-event.ts'
import { ownerRole, serverRole } from './embedded/cluster.ts'
import { awaitMigrations, migrate } from './migrate.ts'
import { createTestDatabase, dropSchemas } from './testing/test-database.ts'

test('two processes that migrate at once apply each migration once, in order', async (t) => {
  const { url } = await emptyDatabase(t)
  const directory = migrations(t, {
    '0001_one.sql': 'create table one (id bigint)',
    '0002_two.sql': 'alter table one add name text',
  })
  const events: LogEvent[] = []
  const options = { directory, serverRole, log: (event: LogEvent) => events.push(event) }

  await Promise.all([migrate(url, options), migrate(url, options), migrate(url, options)])

  assert.deepEqual(
    events.map((event) => event.event === 'database.migrated' && event.name),
    ['0001_one', '0002_two'],
  )
})

test('a migration that fails leaves nothing of itself, keeps the earlier ones and goes through when it is mended', async (t) => {
  const { url, owner } = await emptyDatabase(t)
  const files = {
    '0001_one.sql': 'create table one (id bigint)',
    '0002_two.sql': 'create table two (id bigint); select 1 / 0',
  }
  const options = { directory: migrations(t, files), serverRole, log: () => {} }

  await assert.rejects(migrate(url, options), /0002_two failed; nothing of it was kept/)
  assert.deepEqual(await tables(owner), ['migration', 'one'])

  writeFileSync(join(options.directory, '0002_two.sql'), 'create table two (id bigint)')
  await migrate(url, options)
  assert.deepEqual(await tables(owner), ['migration', 'one', 'two'])
})

test('a migration that waits for a long transaction lets the others pass, and goes through when that has ended', async (t) => {
  const { url, owner } = await emptyDatabase(t)
  const directory = migrations(t, { '0001_one.sql': 'create table one (id bigint)' })
  await migrate(url, { directory, serverRole, log: () => {} })
  writeFileSync(join(directory, '0002_two.sql'), 'alter table one add column name text')
  const long = await owner.connect()
  await long.query('begin; select from one')
  let isDone = false
  const migrated = migrate(url, { directory, serverRole, log: () => {} }).then(() => {
    isDone = true
  })

  const waits: number[] = []
  for (const startedAt = performance.now(); performance.now() - startedAt < 2_500; await sleep(50)) {
    const askedAt = performance.now()
    await owner.query('select from one')
    waits.push(performance.now() - askedAt)
  }
  // A request's statement may take 5 s.
  assert.ok(Math.max(...waits) < 4_000, `${Math.max(...waits)} ms`)
  assert.equal(isDone, false)
  await long.query('commit')
  long.release()
  await migrated
  await owner.query('select name from one')
})

test('an index is made without holding up writers, and anew when it was left half made', async (t) => {
  const { url, owner } = await emptyDatabase(t)
  const files = {
    '0001_one.sql': 'create table one (id bigint); insert into one values (1), (1)',
    '0002_two.sql': `-- Outside a transaction: the table is large.
drop index concurrently if exists one_id;
create unique index concurrently one_id on one (id);
`,
  }
  const options = { directory: migrations(t, files), serverRole, log: () => {} }

  await assert.rejects(migrate(url, options), /0002_two failed; start again to complete it/)
  await owner.query('delete from one where ctid = (select min(ctid) from one)')
  await migrate(url, options)

  const { rows } = await owner.query(`select indisvalid from pg_index where indexrelid = 'one_id'::regclass`)
  assert.deepEqual(rows, [{ indisvalid: true }])
})

test('an applied migration that was edited is refused in one line that names it, and nothing is changed', async (t) => {
  const { url, owner } = await emptyDatabase(t)
  const directory = migrations(t, { '0001_one.sql': 'create table one (id bigint)' })
  await migrate(url, { directory, serverRole, log: () => {} })
  writeFileSync(join(directory, '0001_one.sql'), 'create table one (id text)')
  writeFileSync(join(directory, '0002_two.sql'), 'create table two (id bigint)')

  await assert.rejects(migrate(url, { directory, serverRole, log: () => {} }), {
    message: /^[^\n]*0001_one[^\n]*never be edited[^\n]*$/,
  })
  assert.deepEqual(await tables(owner), ['migration', 'one'])
})

test('a database that a version before the first release made is refused in one line that says what to do, and nothing is changed', async (t) => {
  const { url, serverUrl, owner } = await emptyDatabase(t)
  const before = migrations(t, {
    '0001_directory.sql': 'create table one (id bigint)',
    '0002_access.sql': 'create table two (id bigint)',
  })
  await migrate(url, { directory: before, serverRole, log: () => {} })
  const message =
    'A version of Bridgework that was never released made this database: this version does not have its migration 0001_directory. Start the version that made it, or empty it.'
  const options = { directory: migrations(t, { '0001_schema.sql': 'create table three ()' }), toBeginAnew: 'empty it' }
  for (const more of [{}, { '0002_next.sql': 'create table four ()' }, { '0003_last.sql': 'create table five ()' }]) {
    for (const [name, sql] of Object.entries(more)) writeFileSync(join(options.directory, name), sql)
    await assert.rejects(migrate(url, { ...options, serverRole, log: () => {} }), { message })
    await assert.rejects(awaitMigrations(serverUrl, { ...options, log: () => {} }), { message })
  }
  assert.deepEqual(await tables(owner), ['migration', 'one', 'two'])
})

test('a checkout with Windows’ line endings has the same migrations', async (t) => {
  const { url } = await emptyDatabase(t)
  const directory = migrations(t, { '0001_one.sql': 'create table one (\n  id bigint\n)\n' })
  await migrate(url, { directory, serverRole, log: () => {} })
  writeFileSync(join(directory, '0001_one.sql'), 'create table one (\r\n  id bigint\r\n)\r\n')

  await migrate(url, { directory, serverRole, log: () => {} })
})

test('a database that a newer version has migrated is refused in one line', async (t) => {
  const { url } = await emptyDatabase(t)
  const directory = migrations(t, {
    '0001_one.sql': 'create table one (id bigint)',
    '0002_two.sql': 'create table two (id bigint)',
  })
  await migrate(url, { directory, serverRole, log: () => {} })
  rmSync(join(directory, '0002_two.sql'))

  await assert.rejects(migrate(url, { directory, serverRole, log: () => {} }), {
    message: /^[^\n]*newer version of Bridgework[^\n]*0002_two[^\n]*$/,
  })
})

test('a missing number is a mistake of the release and found before anything is applied', async (t) => {
  const { url, owner } = await emptyDatabase(t)
  const directory = migrations(t, { '0001_one.sql': 'create table one (id bigint)', '0003_three.sql': 'select 1' })

  await assert.rejects(
    migrate(url, { directory, serverRole, log: () => {} }),
    /0003_three\.sql: expected migration 0002/,
  )
  assert.deepEqual(await tables(owner), [])
})

test('the server’s role gets its rights to a table of a later migration too', async (t) => {
  const { url, serverUrl } = await emptyDatabase(t)
  const directory = migrations(t, { '0001_one.sql': 'create table one (id bigint)' })
  await migrate(url, { directory, serverRole, log: () => {} })
  writeFileSync(join(directory, '0002_two.sql'), 'create table two (id bigint generated always as identity, name text)')
  await migrate(url, { directory, serverRole, log: () => {} })

  const server = connect(t, serverUrl)
  await server.query(`insert into two (name) values ('x')`)
  await assert.rejects(server.query('drop table two'), { code: '42501' })
})

test('a role that does not exist is refused in one line, and the owner itself needs no grant', async (t) => {
  const { url, owner } = await emptyDatabase(t)
  const directory = migrations(t, { '0001_one.sql': 'create table disclosure (id bigint)' })

  await assert.rejects(migrate(url, { directory, serverRole: 'no"body', log: () => {} }), {
    message: /^The role "no"body"[^\n]*$/,
  })
  await migrate(url, { directory, serverRole: ownerRole, log: () => {} })
  await owner.query('delete from disclosure')
})

test('a server that does not migrate waits until another process has, with its rights, and then goes on', async (t) => {
  const { url, serverUrl } = await emptyDatabase(t)
  const directory = migrations(t, { '0001_one.sql': 'create table one (id bigint)' })
  const events: LogEvent[] = []
  const seen = Promise.withResolvers<void>()
  const log = (event: LogEvent) => {
    events.push(event)
    seen.resolve()
  }
  const waiting = awaitMigrations(serverUrl, { directory, everyMs: 5, log })
  await seen.promise
  await migrate(url, { directory, serverRole, log: () => {} })
  await waiting
  await connect(t, serverUrl).query('select id from one')

  writeFileSync(join(directory, '0002_two.sql'), 'create table two (id bigint)')
  const options = { directory, everyMs: 5, log }
  await assert.rejects(awaitMigrations(serverUrl, { ...options, waitMs: 500 }), {
    message: /^[^\n]*0002_two[^\n]*database migrate[^\n]*$/,
  })
  assert.deepEqual(events, [
    { event: 'database.waiting', migrations: 1 },
    { event: 'database.waiting', migrations: 1 },
  ])
  await migrate(url, { directory, serverRole, log: () => {} })
  rmSync(join(directory, '0002_two.sql'))
  await assert.rejects(awaitMigrations(serverUrl, options), /newer version of Bridgework/)
})

async function emptyDatabase(t: TestContext) {
  const { url, serverUrl, ownerPool } = await createTestDatabase(t)
  await dropSchemas({ ownerPool })
  return { url, serverUrl, owner: ownerPool }
}

function migrations(t: TestContext, files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'bridgework-migrations-'))
  t.after(() => rmSync(directory, { recursive: true }))
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(directory, name), sql)
  return directory
}

function connect(t: TestContext, url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url })
  t.after(() => pool.end())
  return pool
}

async function tables(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query(
    `select tablename from pg_tables where schemaname = any(current_schemas(false)) order by tablename`,
  )
  return rows.map(({ tablename }) => tablename)
}
