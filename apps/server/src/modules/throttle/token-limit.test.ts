import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { createPool } from '../../platform/database/pool.ts'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { openConnection, readToEnd, startTestServer } from '../../platform/http/testing/test-connection.ts'
import { createTokenLimit, type TokenLimit } from './token-limit.ts'

/** Lets time pass for what is stored: no test waits for a minute. */
async function passTime(pool: Pool, seconds: number): Promise<void> {
  await pool.query(
    `update token_attempt set admitted_at = array(select entry - $1 * interval '1 second' from unnest(admitted_at) entry order by 1)`,
    [seconds],
  )
}

function aTokenLimit(options: Omit<Parameters<typeof createTokenLimit>[0], 'log'>): TokenLimit {
  return createTokenLimit({ log: () => {}, ...options })
}

async function admitTimes(limit: TokenLimit, times: number, ip = '203.0.113.7'): Promise<number> {
  let admitted = 0
  for (let nth = 0; nth < times; nth += 1) if ((await limit.admit(ip)).admitted) admitted += 1
  return admitted
}

/** Counts the queries that pass. */
function counting(pool: Pick<Pool, 'query'>): { pool: Pick<Pool, 'query'>; queries: () => number } {
  let queries = 0
  const query = (...args: Parameters<Pool['query']>) => {
    queries += 1
    return pool.query(...args)
  }
  return { pool: { query } as Pick<Pool, 'query'>, queries: () => queries }
}

test('T19: ten requests of an address in a minute are admitted, the eleventh gets the seconds to wait', async (t) => {
  const { pool } = await createTestDatabase(t)
  const limit = aTokenLimit({ pool })
  const first = await limit.admit('203.0.113.7')
  assert.deepEqual(first, { admitted: true, remaining: 9, resetSeconds: 60 })
  assert.equal(await admitTimes(limit, 8), 8)
  await passTime(pool, 20)
  assert.deepEqual(await limit.admit('203.0.113.7'), { admitted: true, remaining: 0, resetSeconds: 40 })
  const refused = await limit.admit('203.0.113.7')
  assert.deepEqual(refused, { admitted: false, retryAfterSeconds: 40 })
  assert.equal((await limit.admit('203.0.113.8')).admitted, true)
})

test('who is refused learns when the window has room again', async (t) => {
  const { pool } = await createTestDatabase(t)
  const limit = aTokenLimit({ pool, max: 1 })
  const first = await limit.admit('203.0.113.7')
  assert.deepEqual(limit.headersOf(first), { 'RateLimit-Policy': '"token";q=1;w=60', RateLimit: '"token";r=0;t=60' })
  const refused = await limit.admit('203.0.113.7')
  assert.ok(!refused.admitted)
  assert.equal(refused.retryAfterSeconds, 60)
  assert.equal(limit.headersOf(refused).RateLimit, '"token";r=0;t=60')
})

test('T20: there is no window edge: ten at its end leave none for its beginning', async (t) => {
  const { pool } = await createTestDatabase(t)
  assert.equal(await admitTimes(aTokenLimit({ pool }), 10), 10)
  await passTime(pool, 58)
  const limit = aTokenLimit({ pool })
  assert.equal(await admitTimes(limit, 10), 0)
})

test('T21: after exactly the seconds of Retry-After the next request is admitted; refused ones did not extend it and cost no query', async (t) => {
  const { pool } = await createTestDatabase(t)
  let clockMs = 0
  const counted = counting(pool)
  const limit = aTokenLimit({ pool: counted.pool, now: () => clockMs })
  assert.equal(await admitTimes(limit, 10), 10)
  const refused = await limit.admit('203.0.113.7')
  assert.ok(!refused.admitted)
  const before = await pool.query('select address, admitted_at from token_attempt')
  const queries = counted.queries()

  for (let tried = 0; tried < 1000; tried += 1) {
    clockMs = (refused.retryAfterSeconds - 1) * (tried / 1000) * 1000
    const again = await limit.admit('203.0.113.7')
    assert.ok(!again.admitted)
    assert.ok(again.retryAfterSeconds >= 1 && again.retryAfterSeconds <= refused.retryAfterSeconds)
  }
  assert.equal(counted.queries(), queries)
  const after = await pool.query('select address, admitted_at from token_attempt')
  assert.deepEqual(after.rows, before.rows)

  clockMs = refused.retryAfterSeconds * 1000
  await passTime(pool, refused.retryAfterSeconds)
  assert.equal((await limit.admit('203.0.113.7')).admitted, true)
})

test('of 50 parallel requests over two processes exactly ten are admitted, round after round', async (t) => {
  const database = await createTestDatabase(t)
  const other = createPool(database.serverUrl, { max: 10, log: () => {}, applicationName: 'second process' })
  t.after(() => other.end())
  for (let round = 0; round < 20; round += 1) {
    const limits = [database.pool, other].map((pool) => aTokenLimit({ pool }))
    const ip = `198.51.100.${round}`
    const answers = await Promise.all(Array.from({ length: 50 }, (_, nth) => (limits[nth % 2] as TokenLimit).admit(ip)))
    assert.equal(answers.filter((answer) => answer.admitted).length, 10)
  }
})

test('the addresses of one IPv6 customer count as one', async (t) => {
  const { pool } = await createTestDatabase(t)
  const limit = aTokenLimit({ pool })
  let admitted = 0
  for (let nth = 0; nth < 30; nth += 1) {
    const answer = await limit.admit(`2001:db8:0:0:${nth.toString(16)}:${nth.toString(16)}::1`)
    if (answer.admitted) admitted += 1
  }
  assert.equal(admitted, 10)
  assert.equal((await limit.admit('2001:db8:0:1::1')).admitted, true)
})

test('the limit survives a restart of the server', async (t) => {
  const { pool } = await createTestDatabase(t)
  assert.equal(await admitTimes(aTokenLimit({ pool }), 6), 6)
  assert.equal(await admitTimes(aTokenLimit({ pool }), 6), 4)
})

test('a clock that jumps back locks nobody out for longer than a minute', async (t) => {
  const { pool } = await createTestDatabase(t)
  assert.equal(await admitTimes(aTokenLimit({ pool }), 10), 10)
  await passTime(pool, -3600)
  const refused = await aTokenLimit({ pool }).admit('203.0.113.7')
  assert.deepEqual(refused, { admitted: false, retryAfterSeconds: 60 })
  await passTime(pool, 60)
  assert.equal(await admitTimes(aTokenLimit({ pool }), 11), 10)
})

test('a clock that jumps forward admits again and never tells a wait below a second', async (t) => {
  const { pool } = await createTestDatabase(t)
  assert.equal(await admitTimes(aTokenLimit({ pool }), 10), 10)
  await passTime(pool, 59.9995)
  const answer = await aTokenLimit({ pool }).admit('203.0.113.7')
  assert.ok(answer.admitted || answer.retryAfterSeconds >= 1)
})

test('T25: what is stored and remembered of addresses is bounded', async (t) => {
  const { pool } = await createTestDatabase(t)
  await pool.query(
    `insert into token_attempt (address, admitted_at)
     select 'old ' || n, array[clock_timestamp() - interval '61 seconds'] from generate_series(1, 25000) n
     union all select 'ahead ' || n, array[clock_timestamp() + interval '1 hour'] from generate_series(1, 10) n
     union all select 'recent ' || n, array[clock_timestamp() - interval '90 seconds', clock_timestamp()] from generate_series(1, 10) n`,
  )
  const limit = aTokenLimit({ pool, max: 1, rememberedMax: 3 })
  assert.equal(await limit.purge(), 25_010)
  assert.equal(await limit.purge(), 0)
  const { rows } = await pool.query<{ left: number }>('select count(*)::integer as left from token_attempt')
  assert.equal(rows[0]?.left, 10)

  const counted = counting(pool)
  const small = aTokenLimit({ pool: counted.pool, max: 1, rememberedMax: 3 })
  for (let nth = 0; nth < 5; nth += 1) await admitTimes(small, 2, `192.0.2.${nth}`)
  const queries = counted.queries()
  for (const nth of [2, 3, 4]) assert.equal((await small.admit(`192.0.2.${nth}`)).admitted, false)
  assert.equal(counted.queries(), queries)
  assert.equal((await small.admit('192.0.2.0')).admitted, false)
  assert.equal(counted.queries(), queries + 1)
})

test('a purge waits for no address that a request holds, and the next one deletes it', async (t) => {
  const { pool } = await createTestDatabase(t)
  await pool.query(
    `insert into token_attempt (address, admitted_at)
     select 'old ' || n, array[clock_timestamp() - interval '61 seconds'] from generate_series(1, 3) n`,
  )
  const limit = aTokenLimit({ pool })
  const holder = await pool.connect()
  try {
    await holder.query("begin; select from token_attempt where address = 'old 2' for update")
    assert.equal(await limit.purge(), 2)
  } finally {
    await holder.query('rollback')
    holder.release()
  }
  assert.equal(await limit.purge(), 1)
})

test('addresses are purged faster than a flood that never repeats one brings them', async (t) => {
  const { pool } = await createTestDatabase(t)
  const limit = aTokenLimit({ pool, purgeEveryMs: 500 })
  limit.start()
  t.after(() => limit.stop())
  const count = async () => Number((await pool.query('select count(*) from token_attempt')).rows[0].count)
  const flood = async (round: number) => {
    // Each address a minute old, as if its request had just left the window.
    await pool.query(
      `insert into token_attempt (address, admitted_at)
       select $1 || ' ' || n, array[clock_timestamp() - interval '60 seconds'] from generate_series(1, 25000) n`,
      [round],
    )
  }
  let most = 0
  for (let round = 0; round < 12; round += 1) {
    await flood(round)
    most = Math.max(most, await count())
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.ok(most < 200_000, `${most} of 300,000 at once`)
  const deadline = performance.now() + 10_000
  while ((await count()) > 0) {
    assert.ok(performance.now() < deadline, `${await count()} are left`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
})

test('while it cannot count it refuses: 503 with Retry-After; afterwards it works again', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const limit = aTokenLimit({ pool, timeoutMs: 300 })
  const refused = (error: unknown) =>
    error instanceof Problem && error.code === 'unavailable' && Number(error.retryAfterSeconds) >= 1
  await ownerPool.query('alter table token_attempt rename to token_attempt_gone')
  await assert.rejects(limit.admit('203.0.113.7'), refused)
  await ownerPool.query('alter table token_attempt_gone rename to token_attempt')
  assert.equal((await limit.admit('203.0.113.7')).admitted, true)

  const owner = await ownerPool.connect()
  await owner.query('begin; lock table token_attempt in access exclusive mode')
  const began = performance.now()
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => limit.admit('203.0.113.7')))
  assert.ok(answers.every((answer) => answer.status === 'rejected' && refused(answer.reason)))
  assert.ok(performance.now() - began < 2_000, 'those who wait behind a failure fail with it')
  await owner.query('rollback')
  owner.release()
  assert.equal((await limit.admit('203.0.113.7')).admitted, true)
})

test('T23: no header of a direct caller gives it another address; behind a proxy each caller has its own ten', async (t) => {
  const { pool } = await createTestDatabase(t)
  const ask = async (port: number, headers: string) => {
    const socket = await openConnection(t, port)
    const answer = readToEnd(socket)
    socket.write(
      `POST /auth/token HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${headers}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    )
    return (await answer).status
  }
  const serve = async (trustedProxies: string[]) => {
    const limit = aTokenLimit({ pool })
    const { port } = await startTestServer(
      t,
      (app) =>
        app.post('/auth/token', async (request) => {
          const admission = await limit.admit(request.clientIp)
          if (!admission.admitted) throw new Problem('token_requests_exceeded')
          return {}
        }),
      { trustedProxies },
    )
    return port
  }
  const direct = await serve([])
  const statuses: number[] = []
  for (let nth = 0; nth < 11; nth += 1) {
    const ip = `1.2.3.${nth}`
    statuses.push(
      await ask(
        direct,
        `X-Forwarded-For: ${ip}\r\nForwarded: for=${ip}\r\nX-Real-IP: ${ip}\r\nTrue-Client-IP: ${ip}\r\n`,
      ),
    )
  }
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429])

  const proxied = await serve(['127.0.0.0/8'])
  for (let nth = 0; nth < 15; nth += 1)
    assert.equal(await ask(proxied, `X-Forwarded-For: 9.9.9.9, 1.2.4.${nth}\r\n`), 200)
  assert.equal(await ask(proxied, 'X-Forwarded-For: garbage\r\n'), 429)
})

test('a request whose body never becomes complete is not counted', async (t) => {
  const { pool } = await createTestDatabase(t)
  const limit = aTokenLimit({ pool })
  const { port } = await startTestServer(
    t,
    (app) => app.post('/auth/token', async (request) => limit.admit(request.clientIp)),
    {
      headersTimeoutMs: 100,
      requestTimeoutMs: 200,
    },
  )
  const socket = await openConnection(t, port)
  const answer = readToEnd(socket)
  socket.write(
    'POST /auth/token HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  )
  assert.equal((await answer).status, 408)
  assert.equal((await pool.query('select from token_attempt')).rowCount, 0)
})

test('T19: the seconds to wait are rounded up, so that nobody comes back too early', async (t) => {
  const { pool } = await createTestDatabase(t)
  let now = 0
  const limit = aTokenLimit({ pool, max: 1, now: () => now })
  await limit.admit('203.0.113.7')
  await passTime(pool, 40)
  const refused = await limit.admit('203.0.113.7')
  assert.deepEqual(refused, { admitted: false, retryAfterSeconds: 20 })
  // What is remembered of the refusal says so as well.
  for (const [ms, retryAfterSeconds] of [
    [500, 20],
    [1_500, 19],
    [18_900, 2],
  ] as const) {
    now = ms
    assert.deepEqual(await limit.admit('203.0.113.7'), { admitted: false, retryAfterSeconds }, `${ms} ms`)
  }
})
