import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { askPrepared } from './hot/prepared.ts'
import { createPool, withTransaction } from './pool.ts'
import { searchPath } from './schemas.ts'
import { openSession, requirePooler, requireSessions } from './session.ts'
import { DatabaseStartError } from './start-error.ts'
import { createTestDatabase } from './testing/test-database.ts'
import { startPooler } from './testing/test-pooler.ts'
import { badSettings, setForPooler, spoilSettings } from './testing/test-settings.ts'

const quiet = { log: () => {}, applicationName: 'session.test' }

/** Whether an error is for the person who starts the service, in one line that says this. */
const oneLine = (what: RegExp) => (error: unknown) => {
  assert.ok(error instanceof DatabaseStartError, String(error))
  assert.match(error.message, what)
  assert.doesNotMatch(error.message, /\n/)
  return true
}

const asked = `
  select decode('61ff', 'hex')::text as bytes, timestamptz '2026-02-03 04:05:06.7+00'::text as at, interval '1 day 2 hours'::text as age,
         (0.1::float8 + 0.2)::text as sum, 'a\\b' as text, to_regclass('record')::text as name, ('{x,null}'::text[])[2] as list,
         current_setting('transaction_isolation') as level, current_setting('client_encoding') as encoding,
         current_setting('synchronous_commit') as commit`

test('X05: every session begins with our settings, whatever the database, the role and the address say', async (t) => {
  const database = await createTestDatabase(t)
  const good = (await database.pool.query(asked)).rows
  for (const bad of [...badSettings.map((each) => [each]), badSettings]) {
    await spoilSettings(database, bad)
    const options = bad.map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`).join(' ')
    for (const address of [database.serverUrl, database.url]) {
      const url = new URL(address)
      url.searchParams.set('options', options)
      await requireSessions(url.href)
      const bare = new pg.Client({ connectionString: url.href })
      await bare.connect()
      const spoilt = (await bare.query(asked)).rows
      await bare.end()
      // pg always asks for UTF-8 itself.
      if (bad[0]?.[0] !== 'client_encoding') assert.notDeepEqual(spoilt, good, options)
      const pool = createPool(url.href, { max: 1, log: () => {}, applicationName: 'session.test' })
      const client = await openSession(url.href, {})
      try {
        for (const connection of [pool, client]) {
          assert.deepEqual((await connection.query(asked)).rows, good, options)
        }
      } finally {
        await Promise.all([pool.end(), client.end()])
      }
    }
  }
})

test('a stronger promise of what is acknowledged stays', async (t) => {
  const database = await createTestDatabase(t)
  await spoilSettings(database, [['synchronous_commit', 'remote_apply']])
  const client = await openSession(database.serverUrl, {})
  assert.deepEqual((await client.query('show synchronous_commit')).rows, [{ synchronous_commit: 'remote_apply' }])
  await client.end()
})

test('X05: a pooler that gives each transaction another session is refused in one line without an address of PostgreSQL itself', async (t) => {
  const { serverUrl } = await createTestDatabase(t)
  for (const isFair of [false, true]) {
    await assert.rejects(
      requireSessions(await startPooler(t, serverUrl, { isFair })),
      oneLine(/pooler.*BRIDGEWORK_DIRECT_DATABASE_URL/),
    )
  }
})

test('X05: a pooler is refused with the statements that make it fit, and taken when they have run', async (t) => {
  const database = await createTestDatabase(t)
  const { serverUrl } = database
  const through = (options?: object) => startPooler(t, serverUrl, options)
  const refused = async (wrong: RegExp) => {
    await assert.rejects(requirePooler(await through(), serverUrl), oneLine(wrong))
    const pool = createPool(await through(), { ...quiet, max: 1, sharesSessions: true })
    await assert.rejects(pool.query('select 1'), oneLine(wrong))
    await pool.end()
  }
  await refused(/ lack settings .*alter role bridgework_server in database test_\w+ set statement_timeout = '5s';/)

  await setForPooler(database)
  for (const isFair of [false, true]) await requirePooler(await through({ isFair }), serverUrl)

  const fit = [['statement_timeout', '5s'] as const, ['search_path', searchPath] as const]
  for (const settings of [
    ...badSettings.map((bad) => [...fit, bad]),
    [...fit, ['statement_timeout', '0']],
    [...fit, ['statement_timeout', '6s']],
  ]) {
    const [name] = settings.at(-1) as [string, string]
    // pg asks for UTF-8 itself, for each client.
    if (name === 'client_encoding') continue
    await spoilSettings(database, settings as [string, string][])
    await refused(new RegExp(`run: alter role "?bridgework_server"? in database "?\\w+"? set ${name} = [^;]+; Then`))
  }
})

test('X05: a pooler that loses prepared statements is refused, and a direct address that leads to a pooler or to another database', async (t) => {
  const database = await createTestDatabase(t)
  const other = await createTestDatabase(t)
  await setForPooler(database)
  const { serverUrl } = database
  for (const [options, directUrl, why] of [
    [{ carriesStatements: false }, serverUrl, /prepared statements.*PgBouncer 1\.21 or newer, with max_prepared/],
    [{}, await startPooler(t, serverUrl), /BRIDGEWORK_DIRECT_DATABASE_URL to the address of PostgreSQL itself/],
    [{}, other.serverUrl, /lead to different databases/],
  ] as const)
    await assert.rejects(requirePooler(await startPooler(t, serverUrl, options), directUrl), oneLine(why))
})

test('X05: what goes through a pooler leaves nothing of ours in its sessions', async (t) => {
  const database = await createTestDatabase(t)
  const url = await startPooler(t, database.serverUrl, { isFair: true })
  await setForPooler(database)
  await requirePooler(url, database.serverUrl)
  const pool = createPool(url, { ...quiet, max: 3, sharesSessions: true })
  t.after(() => pool.end())
  const prepared = { name: 'one', text: 'select $1::text', values: ['x'] }
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 6 }, () => askPrepared(pool, prepared)))
    await Promise.all([
      pool.query(`select disclosure_record('[]', 1000)`),
      ...[true, false].map((prepares) =>
        withTransaction(pool, (client) => client.query('select $1::text', ['x']), {
          prepares,
          lockTimeoutMs: 100,
          transactionTimeoutMs: 1_000,
        }),
      ),
    ])
  }
  const seen = new Set<number>()
  for (let round = 0; round < 12; round += 1) {
    const { rows } = await pool.query<{ pid: number; own: string | null }>(
      `select pg_backend_pid() as pid, string_agg(name, ', ') as own from pg_settings where source = 'session'`,
    )
    seen.add(rows[0]?.pid ?? 0)
    assert.equal(rows[0]?.own, null)
  }
  assert.ok(seen.size > 1, 'several sessions were asked')
})

test('pools that share sessions have one name, which a pooler need not set anew at each change of hands', async (t) => {
  const database = await createTestDatabase(t)
  await setForPooler(database)
  for (const applicationName of ['one', 'another']) {
    const pool = createPool(database.serverUrl, { ...quiet, max: 1, sharesSessions: true, applicationName })
    assert.deepEqual((await pool.query('show application_name')).rows, [{ application_name: 'bridgework' }])
    await pool.end()
  }
})

test('a pool with settings of its own cannot share sessions', () => {
  const shared = { ...quiet, max: 1, sharesSessions: true }
  for (const own of [{ settings: { work_mem: '6MB' } }, { statementTimeoutMs: 60_000 }])
    assert.throws(() => createPool('postgres://x', { ...shared, ...own }), /sessions of its own/)
})

test('X05: an instant in a style that we do not read is an error, and no missing instant', async (t) => {
  const { serverUrl } = await createTestDatabase(t)
  const pool = createPool(serverUrl, { max: 1, log: () => {}, applicationName: 'session.test' })
  const client = await pool.connect()
  t.after(async () => {
    client.release()
    await pool.end()
  })
  for (const style of ['German', 'SQL', 'Postgres']) {
    await client.query(`set DateStyle = '${style}'`)
    for (const type of ['timestamptz', 'timestamp']) {
      await assert.rejects(client.query(`select ${type} '2026-02-03 04:05:06' as at`), /unknown style/, style)
    }
    assert.deepEqual((await client.query('select null::timestamptz as at')).rows, [{ at: null }])
  }
})

test('a session that ends between two statements fails the next one and not the process', {
  timeout: 20_000,
}, async (t) => {
  const { serverUrl } = await createTestDatabase(t)
  const [client, other] = await Promise.all([openSession(serverUrl, {}), openSession(serverUrl, {})])
  t.after(() => other.end())
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const ended = new Promise((resolve) => client.once('end', resolve))
  await other.query('select pg_terminate_backend($1)', [rows[0]?.pid])
  await ended
  await assert.rejects(client.query('select 1'))
})
