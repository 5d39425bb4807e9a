import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createPool, withTransaction } from '../pool.ts'
import type { Queryable } from '../queryable.ts'
import { createTestDatabase } from '../testing/test-database.ts'
import { askPrepared, plainArray, plainValues, quotedArray } from './prepared.ts'

/** One connection, so that each statement finds what the one before it left. */
async function onePool(t: TestContext) {
  const { url } = await createTestDatabase(t)
  const pool = createPool(url, { max: 1, log: () => {}, applicationName: 'prepared.test' })
  t.after(() => pool.end())
  return pool
}

test('rows come as PostgreSQL writes them, and a connection plans the statement once', async (t) => {
  const pool = await onePool(t)
  const statement = {
    name: 'rows',
    text: `select place, $1::text, place > 1, null, array_agg(place) over ()
             from generate_series(1, $2::integer) place`,
    values: ['ü "quoted", {', '2'],
  }

  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual(await askPrepared(pool, statement), [
      ['1', 'ü "quoted", {', 'f', null, '{1,2}'],
      ['2', 'ü "quoted", {', 't', null, '{1,2}'],
    ])
  }
  assert.deepEqual(await askPrepared(pool, { ...statement, values: [null, '0'] }), [])
  const { rows } = await pool.query('select name, generic_plans + custom_plans as runs from pg_prepared_statements')
  assert.deepEqual(rows, [{ name: 'rows', runs: '3' }])
})

test('a statement that fails rejects with PostgreSQL’s code, and the pool goes on', async (t) => {
  const pool = await onePool(t)
  const divide = (by: string) => askPrepared(pool, { name: 'divide', text: 'select 6 / $1::integer', values: [by] })

  await assert.rejects(divide('0'), { code: '22012' })
  await assert.rejects(divide('many'), { code: '22P02' })
  await assert.rejects(askPrepared(pool, { name: 'typo', text: 'selec 1', values: [] }), { code: '42601' })
  assert.deepEqual(await Promise.all(['1', '2', '3'].map(divide)), [[['6']], [['3']], [['2']]])
})

test('a transaction that prepares plans each text with values once, by indexes; after it plans are as before', async (t) => {
  const pool = await onePool(t)
  const add = (id: number, name: string) =>
    withTransaction(
      pool,
      async (client) => {
        const insert = 'insert into organization (id, name) values ($1, $2)'
        const { rowCount } = await client.query(insert, [id, name])
        assert.equal(rowCount, 1)
        const byText = { text: 'select name from organization where id = $1', values: [id] }
        const named = { ...byText, name: 'own name' }
        for (const config of [byText, named]) assert.deepEqual((await client.query(config)).rows, [{ name }])
        assert.deepEqual((await client.query({ ...byText, rowMode: 'array' })).rows, [[name]])
        assert.deepEqual(await askPrepared(client, { ...named, values: [String(id)] }), [[name]])
        return (await client.query(`select current_setting('enable_seqscan') as scans`)).rows[0].scans
      },
      { prepares: true },
    )

  for (const id of [1, 2, 3]) assert.equal(await add(id, `Practice ${id}`), 'off')
  await assert.rejects(add(3, 'Again'), { code: '23505' })
  await assert.rejects(
    withTransaction(pool, (client) => client.query('select 6 / $1::integer', [0]), { prepares: true }),
    { code: '22012' },
  )

  const { rows } = await pool.query<{ statement: string; custom: string }>(
    `select statement, custom_plans as custom from pg_prepared_statements order by statement`,
  )
  assert.deepEqual(
    rows.map(({ statement, custom }) => [statement.slice(0, 11), custom]),
    [
      ['insert into', '0'],
      ['select 6 / ', '0'],
      ['select name', '0'],
      ['select name', '0'],
    ],
  )
  assert.equal((await pool.query('select id from organization where id = $1', [1])).rowCount, 1)
  assert.equal((await pool.query(`select current_setting('enable_seqscan') as scans`)).rows[0].scans, 'on')
  assert.equal((await pool.query('select from pg_prepared_statements')).rowCount, rows.length)
})

test('a statement that could not be prepared, because its transaction had failed, is prepared in the next one', async (t) => {
  const pool = await onePool(t)
  const run = (fails: boolean) =>
    withTransaction(
      pool,
      async (client) => {
        if (fails) await client.query('select 6 / $1::integer', [0]).catch(() => {})
        return (await client.query('select $1::text as name', ['Kept'])).rows
      },
      { prepares: true },
    )
  await assert.rejects(run(true), { code: '25P02' })
  assert.deepEqual(await run(false), [{ name: 'Kept' }])
  assert.deepEqual(await run(false), [{ name: 'Kept' }])
})

test('in a transaction a statement sees what the transaction wrote, and fails as any other', async (t) => {
  const pool = await onePool(t)
  const countIn = (db: Queryable) =>
    askPrepared(db, { name: 'count', text: 'select count(*) from organization', values: [] })

  const failed = withTransaction(pool, async (client) => {
    await client.query(`insert into organization (id, name) values (1, 'Dropped')`)
    assert.deepEqual(await countIn(client), [['1']])
    await askPrepared(client, { name: 'divide', text: 'select 6 / 0', values: [] })
  })

  await assert.rejects(failed, { code: '22012' })
  assert.deepEqual(await countIn(pool), [['0']])
})

test('one name never stands for two statements', async (t) => {
  const pool = await onePool(t)
  await askPrepared(pool, { name: 'one', text: 'select 1', values: [] })

  await assert.rejects(askPrepared(pool, { name: 'one', text: 'select 2', values: [] }), /two statements have the name/)
  assert.deepEqual(await askPrepared(pool, { name: 'one', text: 'select 1', values: [] }), [['1']])
})

test('a statement ends at its own limit, though the connection’s is longer, and the pool goes on', async (t) => {
  const pool = await onePool(t)
  const begunAt = performance.now()

  const slow = askPrepared(pool, { name: 'slow', text: 'select pg_sleep($1::float8)', values: ['4'], limitMs: 100 })

  await assert.rejects(slow, /Connection terminated/)
  assert.ok(performance.now() - begunAt < 3_000, 'it waited for the connection’s limit')
  assert.deepEqual(await askPrepared(pool, { name: 'next', text: 'select 1', values: [] }), [['1']])
})

test('a session that the server ends rejects the statement that runs and those that wait', async (t) => {
  const { url, ownerPool } = await createTestDatabase(t)
  const pool = createPool(url, { max: 1, log: () => {}, applicationName: 'ended.test' })
  t.after(() => pool.end())
  const sleep = () => askPrepared(pool, { name: 'sleep', text: 'select pg_sleep(4)', values: [] })
  const running = assert.rejects(sleep(), { code: '57P01' })

  const end = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ended.test' and query like '%pg_sleep(4)%'`
  while ((await ownerPool.query(end)).rowCount === 0);

  await running
  assert.deepEqual(await askPrepared(pool, { name: 'next', text: 'select 1', values: [] }), [['1']])
})

test('an array without quotes comes back as it went, and what needs quotes is refused', async (t) => {
  const pool = await onePool(t)
  const asText = async (values: (string | number)[]) => {
    const statement = { name: 'array', text: 'select $1::text[]', values: [plainArray(values)] }
    return plainValues(String((await askPrepared(pool, statement))[0]?.[0]))
  }

  for (const values of [
    [],
    ['a'],
    ['1', '-2', '9223372036854775807'],
    ['01890a5d-ac96-774b-bcce-b302099a8057', 'nulls'],
  ])
    assert.deepEqual(await asText(values), values)
  assert.deepEqual(await asText([1, 2.5]), ['1', '2.5'])
  for (const value of ['', 'a,b', '{a}', 'a"b', 'a b', 'null', 'NULL', 'a\\b', 'a\n'])
    assert.throws(() => plainArray(['a', value]), TypeError, JSON.stringify(value))
})

test('an array of any texts arrives as it is', async (t) => {
  const pool = await onePool(t)
  const values = ['', 'null', '{a,b}', 'with "quotes" and \\ backslashes', '2001:db8::1', '{"fields":["ü"]}', ' ']
  const rows = await askPrepared(pool, {
    name: 'texts',
    text: 'select value from unnest($1::text[]) with ordinality as one (value, place) order by place',
    values: [quotedArray(values)],
  })
  assert.deepEqual(rows.flat(), values)
})
