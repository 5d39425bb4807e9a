import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Pool } from 'pg'
import { createPool } from '../../platform/database/pool.ts'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type LocationId, newUuid } from '../../platform/identity/identity.ts'
import type { SyncType } from './slot-operations.ts'
import { createSyncSlots, type Slot, type SyncSlots } from './sync-slots.ts'

const limits = { initial: 5, incremental: 25 }
const location = (number: number) => String(number) as LocationId

function slotsOn(
  t: TestContext,
  pool: Pick<Pool, 'query'>,
  settings: Partial<Parameters<typeof createSyncSlots>[0]> = {},
): SyncSlots {
  const slots = createSyncSlots({ pool, processId: randomUUID(), limits, log: () => {}, ...settings })
  t.after(() => slots.stop())
  return slots
}

async function twoProcesses(t: TestContext) {
  const database = await createTestDatabase(t)
  const otherPool = createPool(database.serverUrl, { max: 10, log: () => {}, applicationName: 'second process' })
  t.after(() => otherPool.end())
  return { ...database, first: slotsOn(t, database.pool), second: slotsOn(t, otherPool), otherPool }
}

function take(slots: SyncSlots, company: CompanyId, numbers: number[], type: SyncType = 'initial'): Promise<Slot[]> {
  return Promise.all(numbers.map((number) => slots.acquire(company, type, location(number))))
}

function refusalOf(error: unknown): Problem {
  assert.ok(error instanceof Problem)
  assert.equal(error.code, 'sync_slots_exceeded')
  assert.match(error.errors, /[Tt]oo many locations are syncing concurrently/)
  assert.deepEqual(Object.keys(error.members).sort(), ['active_location_ids', 'max_concurrent_locations', 'sync_type'])
  assert.ok(Number(error.retryAfterSeconds) >= 1)
  return error
}

test('with five locations in flight a sixth is refused and told which, and a second request for one of the five is not', async (t) => {
  const { first } = await twoProcesses(t)
  const company = newUuid<CompanyId>()
  const held = await take(first, company, [500, 9, 30, 1000, 7])
  const refused = refusalOf(await first.acquire(company, 'initial', location(6)).catch((error) => error))
  assert.deepEqual(refused.members, {
    sync_type: 'initial',
    max_concurrent_locations: 5,
    active_location_ids: [7, 9, 30, 500, 1000],
  })
  assert.equal(refused.retryAfterSeconds, 1)
  const again = await first.acquire(company, 'initial', location(9))

  await held[1]?.release()
  await assert.rejects(first.acquire(company, 'initial', location(6)), 'the second request still holds the location')
  await again.release()
  await again.release()
  await (await first.acquire(company, 'initial', location(6))).release()
})

test('a company has one set of slots of each type over all processes, and others have their own', async (t) => {
  const { first, second } = await twoProcesses(t)
  const company = newUuid<CompanyId>()
  await take(first, company, [1, 2, 3])
  const held = await take(second, company, [3, 4, 5])
  const refused = refusalOf(await first.acquire(company, 'initial', location(6)).catch((error) => error))
  assert.deepEqual(refused.members.active_location_ids, [1, 2, 3, 4, 5])

  await take(first, newUuid<CompanyId>(), [1, 2, 3, 4, 5])
  await take(
    first,
    company,
    Array.from({ length: 25 }, (_, index) => 100 + index),
    'incremental',
  )
  const other = refusalOf(await second.acquire(company, 'incremental', location(6)).catch((error) => error))
  assert.equal(other.members.sync_type, 'incremental')
  assert.equal(other.members.max_concurrent_locations, 25)

  await held[0]?.release()
  refusalOf(await second.acquire(company, 'initial', location(6)).catch((error) => error))
  await held[2]?.release()
  await second.acquire(company, 'initial', location(6))
})

test('asking without holding refuses as taking would, and takes nothing', async (t) => {
  const { first, second, pool } = await twoProcesses(t)
  const company = newUuid<CompanyId>()
  const held = await take(first, company, [1, 2, 3, 4])
  await second.check(company, 'initial', location(6))
  await second.check(company, 'initial', location(7))
  assert.equal((await pool.query('select from sync_slot')).rowCount, 4)
  await take(first, company, [5])
  refusalOf(await second.check(company, 'initial', location(6)).catch((error) => error))
  refusalOf(await first.check(company, 'initial', location(6)).catch((error) => error))
  await second.check(company, 'initial', location(5))
  await first.check(company, 'initial', location(5))
  await held[0]?.release()
  await second.check(company, 'initial', location(6))
})

test('never are more than five locations in flight, whatever two processes ask and give back at once', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const random = randomFrom(seed)
  const { first, second, pool } = await twoProcesses(t)
  let refused = 0
  // One company: while its gate's row is being made for the first time, that alone makes processes take turns.
  const company = newUuid<CompanyId>()
  for (let round = 0; round < 200; round += 1) {
    const inFlight = new Map<number, number>()
    await Promise.all(
      Array.from({ length: 200 }, async (_, nth) => {
        for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1)
          await new Promise((resolve) => setImmediate(resolve))
        const number = 1 + Math.floor(random() * 6)
        let slot: Slot
        try {
          slot = await (nth % 2 === 0 ? first : second).acquire(company, 'initial', location(number))
        } catch (error) {
          const active = refusalOf(error).members.active_location_ids as number[]
          assert.equal(active.length, 5)
          assert.ok(!active.includes(number), 'a location in flight is never refused')
          refused += 1
          return
        }
        inFlight.set(number, (inFlight.get(number) ?? 0) + 1)
        assert.ok(inFlight.size <= 5, `${inFlight.size} locations in flight in round ${round}`)
        for (let turns = Math.floor(random() * 6); turns > 0; turns -= 1)
          await new Promise((resolve) => setImmediate(resolve))
        const left = (inFlight.get(number) ?? 0) - 1
        if (left === 0) inFlight.delete(number)
        else inFlight.set(number, left)
        await slot.release()
      }),
    )
    const { rowCount } = await pool.query('select from sync_slot where company_id = $1', [company])
    assert.equal(rowCount, 0, 'every slot was given back')
  }
  assert.ok(refused > 0, 'the limit was reached')
})

test('five workers walk fifty locations without one refusal', async (t) => {
  const { first, second } = await twoProcesses(t)
  const company = newUuid<CompanyId>()
  const locations = Array.from({ length: 50 }, (_, index) => index + 1)
  await Promise.all(
    Array.from({ length: 5 }, async (_, worker) => {
      for (let number = locations.pop(); number !== undefined; number = locations.pop()) {
        for (let page = 0; page < 10; page += 1) {
          const slot = await ((page + worker) % 2 === 0 ? first : second).acquire(company, 'initial', location(number))
          await slot.release()
        }
      }
    }),
  )
})

test('a location that is given back and asked for at the same moment is held by exactly one row', async (t) => {
  const { first, pool } = await twoProcesses(t)
  const company = newUuid<CompanyId>()
  for (let round = 0; round < 200; round += 1) {
    const slot = await first.acquire(company, 'initial', location(1))
    const [, next] = await Promise.all([slot.release(), first.acquire(company, 'initial', location(1))])
    assert.equal((await pool.query('select from sync_slot where company_id = $1', [company])).rowCount, 1)
    await next.release()
    assert.equal((await pool.query('select from sync_slot where company_id = $1', [company])).rowCount, 0)
  }
})

test('a release that arrives late never ends a newer hold', async (t) => {
  const { first, pool } = await twoProcesses(t)
  const company = newUuid<CompanyId>()
  const older = await first.acquire(company, 'initial', location(1))
  const { rows } = await pool.query<{ process_id: string; lease: string }>('select process_id, lease from sync_slot')
  await older.release()
  await first.acquire(company, 'initial', location(1))
  await pool.query(
    `select * from sync_slot_apply($1, 20000, 1000, 5, 25, '{release}', array[$2::uuid], '{initial}', '{1}', array[$3::bigint])`,
    [rows[0]?.process_id, company, rows[0]?.lease],
  )
  assert.equal((await pool.query('select from sync_slot')).rowCount, 1)
})

test('the slots of a process that was killed are free after its lease, and held until then by renewal', async (t) => {
  const { first, pool, serverUrl } = await twoProcesses(t)
  const company = newUuid<CompanyId>()
  const leaseMs = 800
  const holder = spawn(
    process.execPath,
    [join(import.meta.dirname, 'testing/test-slot-holder.ts'), serverUrl, randomUUID(), company, String(leaseMs)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.after(() => holder.kill('SIGKILL'))
  await new Promise((resolve) => holder.stdout.once('data', resolve))
  const began = performance.now()
  while (performance.now() - began < 2 * leaseMs) {
    refusalOf(await first.acquire(company, 'initial', location(1)).catch((error) => error))
    await pool.query('select pg_sleep(0.05)')
  }

  const exited = new Promise((resolve) => holder.once('exit', resolve))
  holder.kill('SIGKILL')
  await exited
  const killed = performance.now()
  const slots: Slot[] = []
  while (slots.length < 5) {
    try {
      slots.push(await first.acquire(company, 'initial', location(slots.length + 1)))
    } catch (error) {
      refusalOf(error)
      assert.ok(performance.now() - killed < 3 * leaseMs, 'still refused long after the lease')
      await pool.query('select pg_sleep(0.02)')
    }
  }
})

test('a clock that jumps back does not keep the slots of a dead process', async (t) => {
  const { first, pool } = await twoProcesses(t)
  const company = newUuid<CompanyId>()
  await pool.query(
    `insert into sync_slot (company_id, sync_type, location_id, process_id, expires_at, lease)
     select $1, 'initial', n, $2, clock_timestamp() + interval '1 hour', 1 from generate_series(1, 5) n`,
    [company, randomUUID()],
  )
  refusalOf(await first.acquire(company, 'initial', location(6)).catch((error) => error))
  const { rows } = await pool.query<{ soon: boolean }>(
    `select bool_and(expires_at < clock_timestamp() + interval '21 s') as soon from sync_slot`,
  )
  assert.equal(rows[0]?.soon, true)
})

test('a row that a restart of the database lost is written again by the next renewal', async (t) => {
  const { pool } = await createTestDatabase(t)
  const slots = slotsOn(t, pool, { leaseMs: 20_000, renewMs: 20 })
  const company = newUuid<CompanyId>()
  await slots.acquire(company, 'initial', location(1))
  await pool.query('delete from sync_slot')
  await pool.query('delete from sync_slot_gate')
  slots.start()
  for (;;) {
    if ((await pool.query('select from sync_slot where company_id = $1', [company])).rowCount === 1) break
    await pool.query('select pg_sleep(0.01)')
  }
})

test('a process whose rows were lost and whose places were taken tells its requests to stop', async (t) => {
  const { pool, otherPool } = await twoProcesses(t)
  const slots = slotsOn(t, pool, { renewMs: 20 })
  const other = slotsOn(t, otherPool)
  const company = newUuid<CompanyId>()
  const slot = await slots.acquire(company, 'initial', location(1))
  await pool.query('delete from sync_slot')
  await take(other, company, [2, 3, 4, 5, 6])
  const stopped = new Promise((resolve) => slot.signal.addEventListener('abort', resolve))
  slots.start()
  await stopped
  await slot.release()
  refusalOf(await slots.acquire(company, 'initial', location(1)).catch((error) => error))
})

test('while the database is away no sync is admitted, a release waits for nothing, and what cannot be renewed stops', async (t) => {
  const { pool } = await createTestDatabase(t)
  let isAway = false
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const query = (...args: Parameters<Pool['query']>) => (isAway ? Promise.reject(away) : pool.query(...args))
  let clockMs = 0
  const slots = slotsOn(t, { query } as Pick<Pool, 'query'>, { renewMs: 20, leaseMs: 1_000, now: () => clockMs })
  const company = newUuid<CompanyId>()
  const [one, two] = (await take(slots, company, [1, 2])) as [Slot, Slot]

  isAway = true
  const refused = await slots.acquire(company, 'initial', location(3)).catch((error) => error)
  assert.ok(refused instanceof Problem && refused.code === 'unavailable' && Number(refused.retryAfterSeconds) >= 1)
  await assert.rejects(slots.check(company, 'initial', location(3)), refused)
  await one.release()
  const stopped = new Promise((resolve) => two.signal.addEventListener('abort', resolve))
  clockMs = 990
  slots.start()
  await stopped

  isAway = false
  const again = await slots.acquire(company, 'initial', location(3))
  await two.release()
  await again.release()
  assert.equal(
    (await pool.query('select from sync_slot')).rowCount,
    0,
    'what could not be given back was args back later',
  )
})

test('a hold that its request forgot is ended, not renewed for ever', async (t) => {
  const { pool } = await createTestDatabase(t)
  let clockMs = 0
  const slots = slotsOn(t, pool, { renewMs: 20, holdMaxMs: 60_000, now: () => clockMs })
  const company = newUuid<CompanyId>()
  const [forgotten] = (await take(slots, company, [1, 2])) as [Slot]
  clockMs = 59_000
  await slots.acquire(company, 'initial', location(2))
  const ended = new Promise((resolve) => forgotten.signal.addEventListener('abort', resolve))
  clockMs = 61_000
  slots.start()
  await ended
  await slots.stop()
  assert.equal((await pool.query('select from sync_slot')).rowCount, 0)
})

test('nothing of slots waits for the disk', async (t) => {
  const { pool } = await createTestDatabase(t)
  const client = await pool.connect()
  await client.query('begin; set local synchronous_commit = on')
  await client.query(
    `select * from sync_slot_apply($1, 20000, 1000, 5, 25, '{hold}', array[$1::uuid], '{initial}', '{1}', '{1}')`,
    [randomUUID()],
  )
  assert.equal((await client.query('show synchronous_commit')).rows[0].synchronous_commit, 'off')
  await client.query('rollback')
  client.release()
})

/** Numbers in [0, 1) that a seed repeats (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
