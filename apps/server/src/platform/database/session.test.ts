import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { createPool } from './pool.ts'
import { openSession, requireSessions } from './session.ts'
import { DatabaseStartError } from './start-error.ts'
import { createTestDatabase } from './testing/test-database.ts'
import { startPooler } from './testing/test-pooler.ts'
import { badSettings, spoilSettings } from './testing/test-settings.ts'

const asked = `
  select decode('61ff', 'hex')::text as bytes, timestamptz '2026-02-03 04:05:06.7+00'::text as at, interval '1 day 2 hours'::text as age,
         (0.1::float8 + 0.2)::text as sum, 'a\\b' as text, 'record'::regclass::text as name, ('{x,null}'::text[])[2] as list,
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

test('X05: a pooler that gives each transaction another session is refused in one line', async (t) => {
  const { serverUrl } = await createTestDatabase(t)
  for (const isFair of [false, true]) {
    await assert.rejects(requireSessions(await startPooler(t, serverUrl, { isFair })), (error) => {
      assert.ok(error instanceof DatabaseStartError)
      assert.match(error.message, /^The database does not keep [^\n]*bridgework\.session[^\n]*pooler[^\n]*$/)
      return true
    })
  }
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
