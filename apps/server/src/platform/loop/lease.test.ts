import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { createTestDatabase } from '../database/testing/test-database.ts'
import { createLease } from './lease.ts'
import { createLoop } from './loop.ts'

const some = (pool: Pool, leaseMs?: number) =>
  createLease({ pool, name: 'work', processId: randomUUID(), log: () => {}, ...(leaseMs && { leaseMs }) })

test('one of several processes has the lease, and gives it up when it stops', async (t) => {
  const { pool } = await createTestDatabase(t)
  const leases = Array.from({ length: 5 }, () => some(pool))
  t.after(() => Promise.all(leases.map((lease) => lease.stop())))
  await Promise.all(leases.map((lease) => lease.start()))
  const holders = leases.filter((lease) => lease.isHeld())
  assert.equal(holders.length, 1)

  await holders[0]?.stop()
  assert.equal(holders[0]?.isHeld(), false)
  const next = some(pool)
  t.after(() => next.stop())
  await next.start()
  assert.equal(next.isHeld(), true)
})

test('a process that dies loses the lease after its time, and one that hangs or sleeps knows it', async (t) => {
  const { pool } = await createTestDatabase(t)
  const clock = { ms: 1_000 }
  const dead = createLease({ pool, name: 'work', processId: randomUUID(), log: () => {}, passedMs: () => clock.ms })
  await dead.start()
  const other = some(pool)
  t.after(() => Promise.all([dead.stop(), other.stop()]))
  await other.start()
  assert.deepEqual([dead.isHeld(), other.isHeld()], [true, false])

  // Half a minute later, by the database's clock and by that of the process's machine.
  await pool.query(`update lease set expires_at = expires_at - interval '30 seconds'`)
  clock.ms += 30_000
  assert.equal(dead.isHeld(), false)
  const third = some(pool)
  t.after(() => third.stop())
  await third.start()
  assert.equal(third.isHeld(), true)
})

test('the lease does not depend on the clock of a process', async (t) => {
  const { pool } = await createTestDatabase(t)
  const lease = some(pool)
  const other = some(pool)
  t.after(() => Promise.all([lease.stop(), other.stop()]))
  await lease.start()
  for (const ms of [-86_400_000, 86_400_000]) {
    const jumped = Date.now() + ms
    t.mock.method(Date, 'now', () => jumped)
    await other.start()
    assert.deepEqual([lease.isHeld(), other.isHeld()], [true, false])
  }
})

test('the time in which the machine slept counts', async (t) => {
  const { pool } = await createTestDatabase(t)
  const lease = some(pool)
  t.after(() => lease.stop())
  await lease.start()
  assert.equal(lease.isHeld(), true)
  // After 60 s of sleep: `performance.now()` has not moved.
  const later = os.uptime() + 60
  t.mock.method(os, 'uptime', () => later)
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  assert.equal(lease.isHeld(), false)
})

test('a lease that was taken before the database’s clock went back does not last for ever', async (t) => {
  const { pool } = await createTestDatabase(t)
  const dead = some(pool)
  await dead.start()
  t.after(() => dead.stop())
  await pool.query(`update lease set expires_at = expires_at + interval '1 day', process_id = $1`, [randomUUID()])
  const other = some(pool)
  t.after(() => other.stop())
  await other.start()
  assert.equal(other.isHeld(), true)
})

test('a process without the lease writes nothing, and its loops do not run', async (t) => {
  const { pool } = await createTestDatabase(t)
  const [holder, other] = [some(pool), some(pool)]
  t.after(() => Promise.all([holder.stop(), other.stop()]))
  await holder.start()
  const row = async () => (await pool.query('select xmin, xmax, ctid from lease')).rows
  const before = await row()
  await other.start()
  assert.deepEqual(await row(), before)

  const ran: string[] = []
  const loops = Object.entries({ holder, other }).map(([name, lease]) =>
    createLoop({
      steps: { work: () => ran.push(name) },
      everyMs: 60_000,
      firstAfterMs: 0,
      when: lease.isHeld,
      log: () => {},
    }),
  )
  for (const loop of loops) loop.start()
  await new Promise((resolve) => setTimeout(resolve, 20))
  await Promise.all(loops.map((loop) => loop.stop()))
  assert.deepEqual(ran, ['holder'])
})
