import type { ServicePlot } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'

/** What a process measured in one minute, and what it saw of the installation. */
export type ServiceMinute = {
  minute_at: Date
  process_id: string
  /** The highest of the minute. */
  event_loop_lag_ms: number
  memory_bytes: number
  connections_busy: number
  connections_waited_for: number
  connections_max: number
  slots_in_use: number
  database_bytes: number
  disk_free_bytes: number
  rerender_waiting: number
  mails_waiting: number
}

const keptDays = 14

const bucketsOf = {
  '1h': { seconds: 60, count: 60 },
  '24h': { seconds: 600, count: 144 },
  '7d': { seconds: 3_600, count: 168 },
} as const satisfies Record<ServicePlot['range'], { seconds: number; count: number }>

/** Stores a minute; a second one of the same minute and process changes nothing. */
export async function addServiceMinute(db: Queryable, minute: ServiceMinute): Promise<void> {
  await db.query(
    `insert into service_minute
     select * from jsonb_populate_record(null::service_minute, $1)
         on conflict do nothing`,
    [JSON.stringify(minute)],
  )
}

/**
 * The measures of all processes in the range that ends now. Within a minute, what belongs to a process is added, but for the lag, which is the
 * highest; what belongs to the installation was measured by each of them. Of the minutes of a bucket the worst counts.
 */
export async function servicePlotOf(db: Queryable, range: ServicePlot['range'], now: Date): Promise<ServicePlot> {
  const { seconds, count } = bucketsOf[range]
  const last = Math.floor(now.getTime() / 1000 / seconds)
  const instants = Array.from({ length: count }, (_, index) => new Date((last - count + 1 + index) * seconds * 1000))
  const { rows } = await db.query<{ at: Date } & Record<keyof Measures, number>>(
    `with minute as (
          select minute_at, count(*) as processes, max(event_loop_lag_ms) as event_loop_lag_ms, sum(memory_bytes) as memory_bytes,
                 sum(connections_busy) as connections_busy, sum(connections_waited_for) as connections_waited_for,
                 sum(connections_max) as connections_max, max(slots_in_use) as slots_in_use,
                 max(database_bytes) as database_bytes, min(disk_free_bytes) as disk_free_bytes,
                 max(rerender_waiting) as rerender_waiting, max(mails_waiting) as mails_waiting
            from service_minute
           where minute_at >= $1
           group by minute_at)
     select date_bin($2 * interval '1 second', minute_at, to_timestamp(0)) as at,
            max(processes)::float8 as processes, max(event_loop_lag_ms)::float8 as event_loop_lag_ms,
            max(memory_bytes)::float8 as memory_bytes, max(connections_busy)::float8 as connections_busy,
            max(connections_waited_for)::float8 as connections_waited_for, max(connections_max)::float8 as connections_max,
            max(slots_in_use)::float8 as slots_in_use, max(database_bytes)::float8 as database_bytes,
            min(disk_free_bytes)::float8 as disk_free_bytes, max(rerender_waiting)::float8 as rerender_waiting,
            max(mails_waiting)::float8 as mails_waiting
       from minute
      group by 1
      order by 1`,
    [instants[0], seconds],
  )
  const byInstant = new Map(rows.map((row) => [row.at.getTime(), row]))
  const buckets = instants.map((at) => ({ ...(byInstant.get(at.getTime()) ?? nothing), at: at.toISOString() }))
  return { range, buckets }
}

type Measures = Omit<ServicePlot['buckets'][number], 'at'>

const nothing: Measures = {
  processes: 0,
  event_loop_lag_ms: null,
  memory_bytes: null,
  connections_busy: null,
  connections_waited_for: null,
  connections_max: null,
  slots_in_use: null,
  database_bytes: null,
  disk_free_bytes: null,
  rerender_waiting: null,
  mails_waiting: null,
}

/** Forgets what is older than 14 days. */
export async function deleteOldMinutes(db: Queryable): Promise<void> {
  await db.query(`delete from service_minute where minute_at < now() - $1 * interval '1 day'`, [keptDays])
}
