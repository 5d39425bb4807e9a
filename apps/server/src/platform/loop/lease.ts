import { uptime } from 'node:os'
import type { Queryable } from '../database/queryable.ts'
import type { Log } from '../log/log-event.ts'
import { createLoop } from './loop.ts'

/** Which of several processes does what is to be done once for the installation. */
export type Lease = {
  /** Whether this process has it. By the time that has passed here, also while the machine slept; a clock that is set changes nothing. */
  isHeld: () => boolean
  /** Takes it where it is free, before this resolves, and goes on taking and renewing it. Never rejects. */
  start: () => Promise<void>
  /** Gives it up, so that another process can take it at once. */
  stop: () => Promise<void>
}

/**
 * A lease by the database's clock (docs/decisions/periodic-work.md). Its holder renews it every third of `leaseMs`; a process that dies, hangs or sleeps
 * has lost it after `leaseMs`, and `isHeld` says so no later than another process can take it. Two processes have it together only where the database's
 * clock is set, until the next renewal, and a step that has begun goes on: the work must bear that.
 */
export function createLease(deps: {
  pool: Queryable
  name: string
  processId: string
  log: Log
  leaseMs?: number
  passedMs?: () => number
}): Lease {
  const { pool, name, processId, log, leaseMs = 30_000, passedMs = sinceStartOfMachineMs } = deps
  let heldUntilMs = Number.NEGATIVE_INFINITY
  const take = async () => {
    const begunMs = passedMs()
    heldUntilMs = (await takeLease(pool, { name, processId, leaseMs })) ? begunMs + leaseMs : Number.NEGATIVE_INFINITY
  }
  const loop = createLoop({ steps: { lease: take }, everyMs: leaseMs / 3, log })
  return {
    isHeld: () => passedMs() < heldUntilMs,
    async start() {
      await loop.run()
      loop.start()
    },
    async stop() {
      await loop.stop()
      heldUntilMs = Number.NEGATIVE_INFINITY
      // Where the database is away, the lease ends by itself.
      await pool.query('delete from lease where name = $1 and process_id = $2', [name, processId]).catch(() => {})
    },
  }
}

/**
 * Counts the time in which the machine slept, which `performance.now()` leaves out: Linux's CLOCK_MONOTONIC stops meanwhile (clock_gettime(2)), and
 * /proc/uptime, which `uptime` reads there, goes on (proc_uptime(5)).
 */
const sinceStartOfMachineMs = () => uptime() * 1_000

/** Writes nothing where another process has the lease. One that ends farther ahead than any can was taken before the clock went back. */
async function takeLease(
  db: Queryable,
  { name, processId, leaseMs }: { name: string; processId: string; leaseMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'lease.take',
    text: `with renewed as (
             update lease
                set process_id = $2, expires_at = clock_timestamp() + $3 * interval '1 millisecond'
              where name = $1
                and (process_id = $2 or expires_at <= clock_timestamp()
                     or expires_at > clock_timestamp() + 2 * $3 * interval '1 millisecond')
             returning name
           ), added as (
             insert into lease (name, process_id, expires_at)
             select $1, $2, clock_timestamp() + $3 * interval '1 millisecond'
              where not exists (select 1 from lease where name = $1)
                 on conflict (name) do nothing
             returning name
           )
           select from renewed union all select from added`,
    values: [name, processId, leaseMs],
  })
  return rowCount === 1
}
