import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import type pg from 'pg'
import { ownerRole, serverRole } from './embedded/cluster.ts'
import { createHosts, hostsOf } from './hosts.ts'
import { migrate } from './migrate.ts'
import { createPool } from './pool.ts'
import { openSession } from './session.ts'
import { someReplication, standbyGuide, until } from './testing/test-replication.ts'
import { databaseErrorCode, isDatabaseUnavailable } from './unavailable.ts'

test('an address of several hosts is read as PostgreSQL’s own programs read it', () => {
  for (const [address, hosts] of Object.entries({
    'postgres://r:p@a:5432,b:5433/d?sslmode=require': [
      'postgres://r:p@a:5432/d?sslmode=require',
      'postgres://r:p@b:5433/d?sslmode=require',
    ],
    'postgresql://r@a,b,[fd00::7]:1/d': ['postgresql://r@a/d', 'postgresql://r@b/d', 'postgresql://r@[fd00::7]:1/d'],
    'postgres://r:p%40%2C@a/d?target_session_attrs=read-write': [
      'postgres://r:p%40%2C@a/d?target_session_attrs=read-write',
    ],
    'postgres://a,b/d?target_session_attrs=primary': [
      'postgres://a/d?target_session_attrs=primary',
      'postgres://b/d?target_session_attrs=primary',
    ],
    'postgres:///d?host=/run/postgresql': ['postgres:///d?host=/run/postgresql'],
    'postgres://a,b:x/d': [],
    'postgres://a,b/d?target_session_attrs=prefer-standby': [],
    'mysql://a/d': [],
    'a:5432,b:5432': [],
  }))
    assert.deepEqual(hostsOf(address), hosts, address)
})

test('of two servers the primary is connected to, and the other one when it takes over', {
  timeout: 120_000,
}, async (t) => {
  const { primary, standby, withBoth, promote } = await someReplication(t)
  const url = withBoth(primary.urlAs(serverRole))
  const somePool = (idleTimeoutMs: number) => {
    const made = createPool(url, { max: 4, log: () => {}, applicationName: 'hosts.test', idleTimeoutMs })
    t.after(() => made.end())
    return made
  }
  const pool = somePool(600_000)
  const port = async (db: { query: pg.Pool['query'] } = pool) =>
    (await db.query<{ port: string }>(`select current_setting('port') as port`)).rows[0]?.port
  const [onPrimary, onStandby] = [String(primary.port), String(standby.port)]

  // In either order of the hosts.
  const reversed = url.replace(/@(.*),(.*)\//, '@$2,$1/')
  assert.notEqual(reversed, url)
  for (const address of [url, reversed, `${url}?target_session_attrs=read-write`]) {
    const client = await openSession(address, {})
    assert.equal(await port(client), onPrimary, address)
    await client.end()
  }
  await assert.rejects(openSession(standby.urlAs(serverRole), {}), isDatabaseUnavailable)
  await assert.rejects(migrate(standby.urlAs(ownerRole), { log: () => {}, serverRole }), isDatabaseUnavailable)
  // What a pooler gives that has turned to the standby.
  const strayed = await standby.connect()
  for (const statement of ['select from segment', `select disclosure_record('[]', 1000)`, 'delete from organization'])
    await assert.rejects(strayed.query(statement), isDatabaseUnavailable, statement)
  await strayed.end()

  // The primary takes no writes any more, with sessions open: they are all left as soon as one has found out.
  assert.deepEqual(await Promise.all([port(), port(), port()]), [onPrimary, onPrimary, onPrimary])
  assert.ok(pool.totalCount > 1)
  // They know the primary, and have no connection.
  const [late, later] = [somePool(50), somePool(50)]
  for (const each of [late, later]) {
    assert.equal(await port(each), onPrimary)
    await until(async () => each.totalCount === 0, 'idle connections are closed')
  }
  const counted = `select (select count(*) from organization)::int as logged, (select count(*) from sync_slot_gate)::int as unlogged`
  await primary.query(`insert into organization (id, name) values (2, 'Copied')`)
  await primary.query(`insert into sync_slot_gate (company_id, sync_type) values (gen_random_uuid(), 'initial')`)
  const notLogged = `select relname as name from pg_class where relkind = 'r' and relpersistence = 'u' order by 1`
  const named = readFileSync(standbyGuide, 'utf8').split('What is not logged')[1]?.split('\n\n')[0] ?? ''
  assert.deepEqual(
    (await primary.query(notLogged)).rows.map(({ name }) => name),
    [...named.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  await promote()
  assert.deepEqual((await primary.query(counted)).rows, [{ logged: 1, unlogged: 1 }])
  assert.deepEqual((await standby.query(counted)).rows, [{ logged: 1, unlogged: 0 }])
  await primary.query('alter system set default_transaction_read_only = on')
  await primary.query('select pg_reload_conf()')
  const write = () => pool.query(`insert into organization (id, name) values (1, 'New')`)
  await until(async () => {
    const error = await write().then(
      () => null,
      (error: unknown) => error,
    )
    return databaseErrorCode(error) === '25006'
  }, 'a write is refused')
  await until(async () => pool.totalCount === 0, 'every connection is closed')
  assert.equal(await port(), onStandby)
  await write()
  await assert.rejects(port(late), { code: '25006' })
  assert.equal(await port(late), onStandby)

  // A server that is gone, and one that is not there.
  primary.kill()
  await assert.rejects(port(later), { code: 'ECONNREFUSED' })
  assert.equal(await port(later), onStandby)
  const client = await openSession(url, {})
  assert.equal(await port(client), onStandby)
  await client.end()
  standby.kill()
  await assert.rejects(openSession(url, {}), isDatabaseUnavailable)
  await assert.rejects(pool.query('select 1'), isDatabaseUnavailable)
})

test('one host is connected to without a look at others', () => {
  const { connectionString, Client } = createHosts('postgres://a/d')
  assert.equal(connectionString, 'postgres://a/d')
  assert.equal(new Client({ connectionString }).host, 'a')
})
