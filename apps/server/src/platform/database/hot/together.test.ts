import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { createPool } from '../pool.ts'
import { createTestDatabase } from '../testing/test-database.ts'
import { askInTurn } from './together.ts'

async function aPool(t: TestContext) {
  const { url } = await createTestDatabase(t)
  const pool = createPool(url, { max: 2, log: () => {}, applicationName: 'together.test' })
  t.after(() => pool.end())
  return pool
}

test('one statement at a time: what arrives meanwhile goes together, and leaves before the last answers are handed out', async (t) => {
  const pool = await aPool(t)
  const seen: string[] = []
  const double = async (client: PoolClient, batch: readonly number[]) => {
    seen.push(`send ${batch.join()}`)
    const { rows } = await client.query<{ doubled: number }>('select unnest($1::integer[]) * 2 as doubled', [batch])
    return rows.map(({ doubled }) => doubled)
  }
  const ask = askInTurn(pool, double, { patienceMs: 5_000, onFailure: (error) => assert.fail(String(error)) })
  const askAgain = async (number: number) => {
    const first = await ask(number)
    seen.push(`answer ${number}`)
    return [first, await ask(number + 10)]
  }
  const early = [1, 2].map(askAgain)
  await new Promise(setImmediate)
  const late = [3].map(askAgain)
  assert.deepEqual(await Promise.all([...early, ...late]), [
    [2, 22],
    [4, 24],
    [6, 26],
  ])
  // The connection is awaited in turn, so the third may be among the first.
  const together = ['send 1,2,3', 'answer 1', 'answer 2', 'answer 3', 'send 11,12,13']
  const apart = ['send 1,2', 'send 3', 'answer 1', 'answer 2', 'send 11,12', 'answer 3', 'send 13']
  assert.ok(
    [together, apart].some((order) => order.join('; ') === seen.join('; ')),
    seen.join('; '),
  )
  const many = Array.from({ length: 100 }, (_, number) => number)
  assert.deepEqual(
    await Promise.all(many.map(ask)),
    many.map((number) => number * 2),
  )
  assert.deepEqual(
    seen.slice(-4).map((line) => line.split(',').length),
    [32, 32, 32, 4],
  )
  assert.equal(pool.idleCount, pool.totalCount, 'the connection is given back')
})

test('where a statement fails, or keeps others waiting, its callers and they are told so, and the next ask again', async (t) => {
  const pool = await aPool(t)
  const failures: unknown[] = []
  const divide = async (client: PoolClient, batch: readonly number[]) => {
    const { rows } = await client.query<{ share: number }>(
      'select 6 / number as share, pg_sleep(case when number = 6 then 1.5 else 0 end) from unnest($1::integer[]) number',
      [batch],
    )
    return rows.map(({ share }) => share)
  }
  // To open a connection may take longer than these wait.
  await pool.query('select 1')
  const ask = askInTurn(pool, divide, { patienceMs: 400, onFailure: (error) => failures.push(error) })

  assert.deepEqual(await Promise.all([ask(1), ask(0)]), [null, null])
  assert.deepEqual(
    failures.map((error) => (error as { code?: string }).code),
    ['22012'],
  )
  assert.equal(await ask(3), 2)

  const slow = ask(6)
  await sleep(20)
  const waits = ask(2)
  const begunAt = performance.now()
  assert.equal(await waits, null)
  assert.equal(await ask(2), null, 'no request begins to wait while a statement is late')
  assert.ok(performance.now() - begunAt < 1_300, 'before the statement has ended')
  assert.equal(await slow, 1, 'what is under way is answered')
  assert.equal(await ask(2), 3)

  // No connection to be had.
  const held = [await pool.connect(), await pool.connect()]
  const without = performance.now()
  assert.equal(await ask(2), null)
  assert.ok(performance.now() - without < 1_000)
  for (const client of held) client.release()
  assert.equal(failures.length, 1)
})
