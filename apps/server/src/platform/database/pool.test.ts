import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import test from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import type pg from 'pg'
import type { LogEvent } from '../log/log-event.ts'
import { createPool, isDatabaseUnavailable, requireSupportedPostgres, withTransaction } from './pool.ts'
import { createTestDatabase } from './testing/test-database.ts'

const quiet = { max: 2, log: () => {}, applicationName: 'pool.test' }

test('what a transaction wrote is there when its work returns, and is not when it throws', async (t) => {
  const { pool } = await createTestDatabase(t)

  const given = await withTransaction(pool, async (client) => {
    await client.query(`insert into organization (id, name) values (1, 'Kept')`)
    return 'result'
  })
  const failure = new Error('no')
  const failed = withTransaction(pool, async (client) => {
    await client.query(`insert into organization (id, name) values (2, 'Dropped')`)
    throw failure
  })

  assert.equal(given, 'result')
  await assert.rejects(failed, failure)
  assert.deepEqual((await pool.query('select name from organization')).rows, [{ name: 'Kept' }])
})

test('connections close after a while without a statement, but for those that are kept', async (t) => {
  const { url } = await createTestDatabase(t)
  const pool = createPool(url, { ...quiet, min: 1, idleTimeoutMs: 200 })
  t.after(() => pool.end())
  await Promise.all([pool.query('select pg_sleep(0.01)'), pool.query('select pg_sleep(0.01)')])
  assert.equal(pool.totalCount, 2)
  const removed = new Promise((resolve) => pool.once('remove', resolve))
  await removed
  await new Promise((resolve) => setTimeout(resolve, 400))
  assert.equal(pool.totalCount, 1)
})

test('each connection begins with the settings of its pool, and one that cannot have them is not handed out', async (t) => {
  const { url } = await createTestDatabase(t)
  const settings = { work_mem: '6MB', lock_timeout: '250ms' }
  const pool = createPool(url, { ...quiet, settings })
  const wrong = createPool(url, { ...quiet, settings: { lock_timeout: 'long' } })
  t.after(() => Promise.all([pool.end(), wrong.end()]))
  const show = `select current_setting('work_mem') as work_mem, current_setting('lock_timeout') as lock_timeout`
  const answers = await Promise.all([pool.query(show), pool.query(show)])
  assert.equal(pool.totalCount, 2)
  for (const { rows } of answers) assert.deepEqual(rows, [settings])
  await assert.rejects(wrong.query('select 1'), { code: '22023' })
  assert.equal(wrong.totalCount, 0)
})

test('work that swallows a failed statement throws, for nothing was committed', async (t) => {
  const { pool } = await createTestDatabase(t)

  const swallowing = withTransaction(pool, async (client) => {
    await client.query(`insert into organization (id, name) values (1, 'Lost')`)
    await client.query('select 1 / 0').catch(() => {})
  })

  await assert.rejects(swallowing, /rolled back/)
  assert.equal((await pool.query('select id from organization')).rowCount, 0)
})

test('a transaction that outlives its time ends, its locks too, and the pool goes on', async (t) => {
  const { pool } = await createTestDatabase(t)

  const slow = withTransaction(pool, (client) => client.query('select pg_sleep(20)'), { transactionTimeoutMs: 100 })

  await assert.rejects(slow, (error) => isDatabaseUnavailable(error))
  assert.equal((await pool.query('select 1')).rowCount, 1)
})

test('a session that goes on after an error is used again, and one that has ended is not', async (t) => {
  const { url } = await createTestDatabase(t)
  const pool = createPool(url, { ...quiet, max: 1 })
  t.after(() => pool.end())
  const session = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  for (const [state, isAlive] of [
    ['40P01', true],
    ['55P03', true],
    ['57014', true],
    ['53100', true],
    ['22012', true],
    ['57P01', false],
    ['08006', false],
    ['25P04', false],
  ] as const) {
    const before = await session()
    for (const wrap of [(error: unknown) => error, (cause: unknown) => new Error('not now', { cause })]) {
      const failing = withTransaction(pool, async (client) => {
        await client
          .query(`do $$ begin raise exception using errcode = '${state}'; end $$`)
          .catch((error) => Promise.reject(wrap(error)))
      })
      await assert.rejects(failing)
    }
    assert.equal((await session()) === before, isAlive, state)
  }
})

test('a transaction runs in READ COMMITTED whatever the database’s default is', async (t) => {
  const { ownerPool, url } = await createTestDatabase(t)
  const name = new URL(url).pathname.slice(1)
  await ownerPool.query(`alter database ${name} set default_transaction_isolation = 'serializable'`)
  const pool = createPool(url, quiet)
  t.after(() => pool.end())

  const level = await withTransaction(pool, (client) => client.query('show transaction_isolation'))

  assert.deepEqual(level.rows, [{ transaction_isolation: 'read committed' }])
})

test('large numbers, decimals and days come as they are stored', async (t) => {
  const { pool } = await createTestDatabase(t)

  const { rows } = await pool.query(
    `select 9007199254740993 as big, 12.50::numeric(9, 2) as amount, date '2024-02-29' as day`,
  )

  assert.deepEqual(rows, [{ big: '9007199254740993', amount: '12.50', day: '2024-02-29' }])
})

test('a database that is not there, refuses, ends the session or never answers is known as unavailable', async (t) => {
  const { url, pool } = await createTestDatabase(t)
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  t.after(() => silent.close())
  const silentPort = (silent.address() as AddressInfo).port
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const closedPort = (closed.address() as AddressInfo).port
  await new Promise((resolve) => closed.close(resolve))
  const noSocket = new URL(url)
  noSocket.searchParams.set('host', '/nonexistent')

  for (const [address, patienceMs] of [
    [`postgres://x:y@127.0.0.1:${silentPort}/z`, 5_500],
    [`postgres://x:y@127.0.0.1:${closedPort}/z`, 1_000],
    ['postgres://x:y@does-not-exist.invalid/z', 5_500],
    [noSocket.href, 1_000],
  ] as const) {
    const lost = createPool(address, quiet)
    const startedAt = performance.now()
    await assert.rejects(lost.query('select 1'), (error) => isDatabaseUnavailable(error), address)
    assert.ok(performance.now() - startedAt < patienceMs, address)
    await lost.end()
  }
  await assert.rejects(pool.query('select pg_terminate_backend(pg_backend_pid())'), (error) =>
    isDatabaseUnavailable(error),
  )
  await assert.rejects(pool.query(`set statement_timeout = 50; select pg_sleep(5)`), (error) =>
    isDatabaseUnavailable(error),
  )
})

test('a server that stops answering in the middle of a statement is given up a second after the statement’s own time', async (t) => {
  const { url } = await createTestDatabase(t)
  const pool = createPool(url, { ...quiet, statementTimeoutMs: 1_000 })
  t.after(() => pool.end())
  const client = await pool.connect()
  await client.query('set statement_timeout = 0')
  const startedAt = performance.now()

  await assert.rejects(client.query('select pg_sleep(4)'), (error) => isDatabaseUnavailable(error))

  assert.ok(performance.now() - startedAt < 3_000)
  client.release(true)
})

test('a statement may have a limit of its own, after which the pool goes on with another connection', async (t) => {
  const { url } = await createTestDatabase(t)
  const pool = createPool(url, { ...quiet, max: 1 })
  t.after(() => pool.end())
  const startedAt = performance.now()

  const slow = pool.query({ text: 'select pg_sleep(4)', query_timeout: 200 } as pg.QueryConfig)

  await assert.rejects(slow, (error) => isDatabaseUnavailable(error))
  assert.ok(performance.now() - startedAt < 3_000)
  assert.equal((await pool.query('select 1')).rowCount, 1)
})

test('an ended statement, its values and its rows do not outlive the young generation', async (t) => {
  const { url } = await createTestDatabase(t)
  const pool = createPool(url, { ...quiet, max: 5 })
  t.after(() => pool.end())
  const columns = Array.from({ length: 25 }, (_, index) => `n + ${index} as column_${index}`)
  const statement = { name: 'rows', text: `select ${columns} from generate_series(1, 8) n` }
  const askOften = async (times: number) => {
    let asked = 0
    const askInTurn = async () => {
      for (; asked < times; asked += 1) await pool.query(statement)
    }
    await Promise.all(Array.from({ length: 8 }, askInTurn))
  }
  const oldBytes = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0
  await askOften(500)

  // A full collection in between can only make it less.
  const before = oldBytes()
  await askOften(10_000)

  const perStatement = (oldBytes() - before) / 10_000
  t.diagnostic(`${perStatement} bytes`)
  assert.ok(perStatement < 1_000, `${perStatement} bytes of each statement were kept`)
})

test('an error of a statement, a bug and a missing file are not the database’s absence', async (t) => {
  const { pool } = await createTestDatabase(t)
  const missing = await import('node:fs/promises').then(({ readFile }) =>
    readFile('/nonexistent').catch((error) => error),
  )

  for (const error of [
    await pool.query('select 1 / 0').catch((problem) => problem),
    await pool.query(`select * from nothing`).catch((problem) => problem),
    missing,
    new TypeError('x is not a function'),
    'text',
    null,
  ]) {
    assert.equal(isDatabaseUnavailable(error), false, String(error))
  }
})

test('sessions that the server ends while they are idle or between two statements do not end the process', async (t) => {
  const { url, ownerPool } = await createTestDatabase(t)
  const events: LogEvent[] = []
  const pool = createPool(url, { ...quiet, applicationName: 'doomed', log: (event) => events.push(event) })
  t.after(() => pool.end())
  const idle = await pool.connect()
  const busy = await pool.connect()
  // Both must know by now: the pool would still hand out an idle session whose end has not arrived.
  const ended = Promise.all([
    new Promise((resolve) => busy.once('error', resolve)),
    new Promise((resolve) => pool.once('error', resolve)),
  ])
  idle.release()

  await ownerPool.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'doomed'`)
  await ended

  await assert.rejects(busy.query('select 1'), (error) => isDatabaseUnavailable(error))
  busy.release(true)
  assert.equal((await pool.query('select 1')).rowCount, 1)
  assert.deepEqual(events, [{ event: 'database.unavailable', code: '57P01' }])
})

test('PostgreSQL 16 is refused in one line, 17 is not', async () => {
  const server = (number: number, version: string) =>
    ({ query: async () => ({ rows: [{ number, version }] }) }) as never

  await assert.rejects(requireSupportedPostgres(server(160_003, '16.3')), {
    message: /^PostgreSQL 16\.3 is too old[^\n]*17[^\n]*$/,
  })
  await requireSupportedPostgres(server(170_000, '17.0'))
})
