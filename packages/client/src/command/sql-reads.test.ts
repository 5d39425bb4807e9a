import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { superuserUrl } from '../../../../apps/server/src/platform/database/testing/test-database.ts'
import { querySqlite } from '../stores/query-mirror.ts'
import { readingRole } from '../stores/reading-role.ts'
import { openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { command, someFolder } from './testing/test-command.ts'

const moreThanRead = /would do more than read the mirror/

/** `{file}` is a file that does not exist, `{other}` another database with the table `kept`. */
const hostileToSqlite = [
  `vacuum into '{file}'`,
  `vacuum`,
  `attach database '{file}' as more`,
  `attach database '{other}' as more`,
  `create table more (id integer)`,
  `create temp table more as select * from patients`,
  `create table main.more as select * from patients`,
  `insert into patients (id, location_id) values (1, 1) returning id`,
  `update patients set last_name = 'x'`,
  `delete from raw_record`,
  `with gone as (select 1) delete from raw_record`,
  `replace into layout (name) values ('x')`,
  `drop table patients`,
  `alter table patients add column more text`,
  `reindex`,
  `analyze`,
  `pragma writable_schema = on`,
  `pragma journal_mode = delete`,
  `pragma user_version = 7`,
  `pragma wal_checkpoint(truncate)`,
  `pragma query_only = off`,
  `begin immediate`,
  `savepoint more`,
  `select load_extension('{file}')`,
  `select * from pragma_journal_mode`,
  `/* select */ vacuum into '{file}'`,
  `select 1; vacuum into '{file}'`,
  `explain select 1;;vacuum into '{file}'`,
]

test('K52: no statement of sql writes a byte beside or in a SQLite mirror', async (t) => {
  const folder = someFolder(t)
  const [file, other, more] = ['copy', 'other', 'more'].map((name) => join(folder, `${name}.sqlite`)) as [
    string,
    string,
    string,
  ]
  for (const path of [file, other]) await (await openStore('sqlite', path)).close()
  const names = readdirSync(folder)
  const contents = names.map((name) => readFileSync(join(folder, name)))

  for (const statement of hostileToSqlite) {
    const asked = statement.replace('{file}', more).replace('{other}', other)
    const { code, out, err } = await command(['sql', '--to', `sqlite:${file}`, asked], {})
    assert.deepEqual([code, out], [1, ''], asked)
    assert.match(err, /do more than read the mirror|Ask one query at a time/, asked)
    assert.ok(!existsSync(more), asked)
  }

  assert.deepEqual(
    readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name)),
    names.filter((name) => !/-(wal|shm)$/.test(name)),
  )
  names.forEach((name, index) => {
    if (!name.endsWith('-shm')) assert.deepEqual(readFileSync(join(folder, name)), contents[index], name)
  })
  for (const reading of [
    `with recursive n (n) as (select 1 union all select n + 1 from n where n < 3) select sum(n) as sum from n`,
    `select value from json_each('[1]')`,
    `select * from current_patients`,
    `explain query plan select * from patients`,
    `pragma table_info(patients)`,
    `values (1)`,
  ]) {
    const { code, err } = await command(['sql', '--to', `sqlite:${file}`, reading], {})
    assert.equal(code, 0, `${reading}: ${err}`)
  }
})

test('K52: a mirror that a killed program left keeps its bytes, and sql shows what its log holds', async (t) => {
  const folder = someFolder(t)
  const [file, left] = [join(folder, 'copy.sqlite'), join(folder, 'left.sqlite')]
  const store = await openStore('sqlite', file)
  for (const ending of ['', '-wal']) copyFileSync(`${file}${ending}`, `${left}${ending}`)
  await store.close()
  const bytesOf = () => ['', '-wal'].map((ending) => readFileSync(`${left}${ending}`))
  const before = bytesOf()
  assert.ok(before.every(({ length }) => length > 0))

  const { code, out } = await command(['sql', '--to', `sqlite:${left}`, 'select count(*) as n from patients'], {})
  assert.deepEqual([code, out], [0, 'n\n0\n'])
  assert.deepEqual(bytesOf(), before)
})

test('K52: where SQLite cannot be kept from writing, it is not asked, and the message says how else', async (t) => {
  const { DatabaseSync } = await import('node:sqlite')
  const file = join(someFolder(t), 'copy.sqlite')
  await (await openStore('sqlite', file)).close()
  // As Node had it before version 24.10.
  t.mock.property(DatabaseSync.prototype as unknown as { setAuthorizer: unknown }, 'setAuthorizer', undefined)
  await assert.rejects(querySqlite(file, 'select 1'), /needs Node 24\.10 or newer.*sqlite3 -readonly \//)
})

/** `{file}` is a file of the server that does not exist, `{secret}` one that does. */
const hostileToPostgres = [
  `copy (select 1) to program 'touch {file}'`,
  `copy (select 1) to '{file}'`,
  `copy patients from '{secret}'`,
  `select lo_export(0, '{file}')`,
  `select lo_import('{secret}')`,
  `select pg_read_file('{secret}')`,
  `select pg_ls_dir('/')`,
  `select lo_from_bytea(0, 'x')`,
  `insert into patients (id, location_id) values (1, 1) returning id`,
  `update patients set last_name = 'x'`,
  `with gone as (delete from raw_record returning 1) select * from gone`,
  `select * from patients for update`,
  `select set_config('transaction_read_only', 'off', true), nextval('more')`,
  `select nextval('more')`,
  `set transaction read write`,
  `begin`,
  `commit`,
  `commit and chain`,
  `do $$ begin create table more (id int); end $$`,
  `call write_more()`,
  `select more_by_function()`,
  `create table more (id int)`,
  `create temp table more as select 1`,
  `select 1 as id into more`,
  `truncate patients`,
  `drop table patients`,
  `alter role current_user set search_path to public`,
  `grant all on patients to public`,
  `analyze patients`,
  `reindex table patients`,
  `vacuum`,
  `prepare more as select 1`,
  `listen more`,
  `load 'plpgsql'`,
  `set role postgres`,
  `select pg_create_physical_replication_slot('more', true)`,
  `1; drop table patients`,
  `select 1; commit; drop table patients`,
  `select 1; -- \n drop table patients`,
]

test('K52: no statement of sql writes anything by way of a PostgreSQL mirror, whoever of its roles asks', async (t) => {
  const { to, admin, folder } = await somePostgres(t)
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'kept')
  const more = join(folder, 'more')
  await admin.query('create sequence bridgework.more')
  await admin.query('grant usage on sequence bridgework.more to public')
  await admin.query(
    `create function bridgework.more_by_function() returns void language sql as 'create table bridgework.more_table (id int)'`,
  )
  await admin.query(
    `create procedure bridgework.write_more() language sql as 'create table bridgework.more_table (id int)'`,
  )
  const before = await stateOf(admin)

  for (const url of to) {
    for (const statement of hostileToPostgres) {
      const asked = statement.replace('{file}', more).replace('{secret}', secret)
      const { code, out, err } = await command(['sql', '--to', url, asked], {})
      assert.deepEqual([code, out], [1, ''], `${asked}: ${out}`)
      assert.doesNotMatch(err, /could reach more/, asked)
      assert.ok(!existsSync(more), asked)
    }
    for (const changing of ['update patients set last_name = 1', ' /* a */ -- b\n analyze', 'commit', 'set role x']) {
      const { err } = await command(['sql', '--to', url, changing], {})
      assert.match(err, moreThanRead, changing)
    }
    for (const reading of [
      'table patients',
      'values (1)',
      '(select 1) union select 2',
      ' with a as (select 1) select * from a;',
    ]) {
      const { code, err } = await command(['sql', '--to', url, reading], {})
      assert.equal(code, 0, `${reading}: ${err}`)
    }
    assert.match(
      (await command(['sql', '--to', url, 'select frm x'], {})).err,
      /column "frm" does not exist|syntax error/,
    )
  }

  assert.deepEqual(await stateOf(admin), before)
})

test('K52: a role that reaches files or programs of the server does not ask, and the statements of the message make one that may', async (t) => {
  const { admin, database, urlAs, roles, folder } = await somePostgres(t)
  const mayNot = [
    [superuserUrl(database), 'superuser'],
    [await urlAs('program', 'in role pg_execute_server_program'), 'pg_execute_server_program'],
    [await urlAs('reads', 'in role pg_read_server_files'), 'pg_read_server_files'],
    // Not by itself, but it could take on the other one.
    [await urlAs('writes', 'noinherit in role pg_write_server_files'), 'pg_write_server_files'],
    [await urlAs('replicates', 'replication'), 'replication'],
    [await urlAs('exports', '', (role) => `grant execute on function lo_export(oid, text) to ${role}`), 'lo_export'],
  ] as const
  const file = join(folder, 'made')
  let said = ''
  for (const [url, reach] of mayNot) {
    for (const asked of ['select 1', `copy (select 1) to program 'touch ${file}'`]) {
      const { code, out, err } = await command(['sql', '--to', url, asked], {})
      assert.deepEqual([code, out], [1, ''], reach)
      assert.ok(err.includes(`could reach more than this database with a query (${reach})`), err)
      said = err
    }
  }
  assert.ok(!existsSync(file))

  const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guides/analyse.md'), 'utf8')
  for (const statement of readingRole('analyst', 'user')) {
    assert.ok(guide.replaceAll('"', '').includes(statement.replaceAll('"', '')), statement)
  }
  const statements = said.slice(said.indexOf('create role')).trim()
  const analyst = `analyst_${database}`
  roles.push(analyst)
  const password = new URL(superuserUrl(database)).password
  await admin.query(statements.replaceAll('"analyst"', analyst).replace('choose one', password))
  // A table that a later version of the mirror adds.
  await admin.query('set role bridgework_owner; create table bridgework.later (id int); reset role')
  const url = new URL(superuserUrl(database))
  url.username = analyst
  for (const asked of ['select count(*) from current_patients', 'select count(*) from later']) {
    const { code, err } = await command(['sql', '--to', url.href, asked], {})
    assert.equal(code, 0, err)
  }
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  await assert.rejects(client.query('delete from bridgework.raw_record'), /permission denied/)
  await client.end()
})

/** A mirror in PostgreSQL and the addresses of those who may ask it: its owner, and a role that only reads. */
async function somePostgres(t: TestContext) {
  const owner = await someTarget(t, 'postgres')
  await (await openStore('postgres', owner)).close()
  const database = new URL(owner).pathname.slice(1)
  const admin = new pg.Client({ connectionString: superuserUrl(database) })
  await admin.connect()
  const roles: string[] = []
  t.after(async () => {
    for (const role of roles) await admin.query(`drop owned by ${role}; drop role ${role}`)
    await admin.end()
  })
  const urlAs = async (name: string, attributes: string, grant?: (role: string) => string) => {
    const role = `${name}_${database}`
    const url = new URL(owner)
    await admin.query(`create role ${role} login ${attributes} password ${admin.escapeLiteral(url.password)}`)
    roles.push(role)
    if (grant) await admin.query(grant(role))
    url.username = role
    return url.href
  }
  const reader = await urlAs('reader', '')
  await admin.query(`grant usage on schema bridgework to ${new URL(reader).username}`)
  await admin.query(`grant select on all tables in schema bridgework to ${new URL(reader).username}`)
  const folder = join(someFolder(t), 'server')
  mkdirSync(folder, { mode: 0o777 })
  return { to: [owner, reader], admin, database, urlAs, roles, folder }
}

/** Everything that a statement could have changed: relations and their files, rows, roles, functions, settings, large objects, slots. */
async function stateOf(admin: pg.Client): Promise<unknown> {
  const { rows } = await admin.query(
    `select (select json_agg(c order by oid) from (select oid, relname, relfilenode, relpages, relacl from pg_class where oid >= 16384) c) as relations,
            (select json_agg(r order by rolname) from (select rolname, rolconfig from pg_roles where rolname like 'bridgework%') r) as roles,
            (select count(*) from pg_proc) as functions, (select count(*) from pg_largeobject_metadata) as large,
            (select count(*) from pg_replication_slots) as slots, (select count(*) from bridgework.raw_record) as records,
            (select last_value::text || is_called from bridgework.more) as sequence,
            (select json_agg(s) from (select last_analyze from pg_stat_user_tables where last_analyze is not null) s) as statistics`,
  )
  return rows
}
