import { datasetNames } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { type OpenTimes, openMsBetween } from '../directory/office-hours.ts'

/** How many reads of a dataset were finished within a quarter of an hour. */
export type SyncActivity = { at: Date; reads: number }

/** A part of a timeline. `missed`: open, and not read once; `closed`: not read, out of hours; `none`: before the first sync. */
export type FreshnessCell = { at: Date; reads: number; kind: 'read' | 'missed' | 'closed' | 'none' }

const bucketMs = 15 * 60_000
const keptDays = 30

/** SQL for the quarter of an hour that an instant belongs to. */
export function activityBucket(instant: string): string {
  return `date_bin('15 minutes', ${instant}, '2000-01-01 00:00:00+00')`
}

/** What was read of a location's datasets since then, by dataset, the oldest first. */
export async function listSyncActivity(
  db: Queryable,
  locationId: LocationId,
  since: Date,
): Promise<Map<string, SyncActivity[]>> {
  const { rows } = await db.query<{ dataset: string; bucket_at: Date; reads: number }>(
    `select dataset, bucket_at, reads
       from sync_activity
      where location_id = $1 and bucket_at >= $2
      order by dataset, bucket_at`,
    [locationId, since],
  )
  const byDataset = Map.groupBy(rows, (row) => row.dataset)
  return new Map(
    [...byDataset].map(([dataset, found]) => [dataset, found.map((row) => ({ at: row.bucket_at, reads: row.reads }))]),
  )
}

/**
 * How old the copies of these locations' datasets became at most in each part of a range, in seconds; null: nothing was read yet. `beginsAt`: of the
 * parts, one after the other, each so long. A read is known to its quarter of an hour.
 */
export async function listLags(
  db: Queryable,
  locationIds: readonly LocationId[],
  { beginsAt, seconds }: { beginsAt: readonly Date[]; seconds: number },
  now: Date,
): Promise<(number | null)[]> {
  const [begin = now] = beginsAt
  const { rows } = await db.query<{ location_id: LocationId; dataset: string } & (Reads | NoReads)>(
    `select s.location_id, s.dataset, s.synced_at as read_at, a.part, a.first_at, a.last_at, a.lag_seconds
       from dataset_state s
       left join (
            select location_id, dataset, floor(extract(epoch from bucket_at - $2::timestamptz) / $3)::integer as part,
                   min(bucket_at) as first_at, max(bucket_at) as last_at, max(lag_seconds) as lag_seconds
              from sync_activity
             where location_id = any($1::bigint[]) and bucket_at >= $2
             group by 1, 2, 3) a on a.location_id = s.location_id and a.dataset = s.dataset
      where s.location_id = any($1::bigint[]) and s.is_provided and s.synced_at is not null
      order by s.location_id, s.dataset, a.part`,
    [locationIds, begin, seconds],
  )
  const ends = beginsAt.map((at) => Math.min(at.getTime() + seconds * 1_000, now.getTime()))
  const lags = ends.map((): number | null => null)
  for (const own of Map.groupBy(rows, (row) => `${row.location_id} ${row.dataset}`).values()) {
    const parts = new Map(own.flatMap((row) => (row.part === null ? [] : [[row.part, row]])))
    const [first] = own
    // Before the first read of the range: when the copy was read that it replaced.
    let readMs: number | null = null
    if (first && first.part === null) readMs = first.read_at.getTime()
    else if (first?.lag_seconds != null) readMs = first.first_at.getTime() - first.lag_seconds * 1_000
    for (const [part, endMs] of ends.entries()) {
      const reads = parts.get(part)
      if (reads) readMs = reads.last_at.getTime() + bucketMs
      if (readMs === null) continue
      const lag = Math.max(reads?.lag_seconds ?? 0, Math.round((endMs - readMs) / 1_000))
      lags[part] = Math.max(lags[part] ?? 0, lag)
    }
  }
  return lags
}

/** What was read of a dataset within a part; or that nothing was within the range, and when it last was. */
type Reads = { read_at: Date; part: number; first_at: Date; last_at: Date; lag_seconds: number | null }
type NoReads = { read_at: Date; part: null }

/** Forgets what is older than 30 days of these locations. By the primary key: of each dataset only what goes is looked at. */
export async function deleteOldSyncActivity(db: Queryable, locationIds: readonly LocationId[]): Promise<void> {
  await db.query(
    `delete from sync_activity
      where location_id = any($1::bigint[]) and dataset = any($2::text[]) and bucket_at < now() - $3 * interval '1 day'`,
    [locationIds, datasetNames, keptDays],
  )
}

/** Draws one timeline after another of the same location: what all share, its hours, is worked out once. */
export function createTimelines(
  place: OpenTimes,
  range: { cellMs: number; cells: number },
  now: Date,
): {
  since: Date
  timelineOf: (activity: readonly SyncActivity[], initialSyncCompletedAt: Date | null) => FreshnessCell[]
} {
  const { cellMs, cells } = range
  const begin = (Math.floor(now.getTime() / cellMs) - (cells - 1)) * cellMs
  const cellsAt = Array.from({ length: cells }, (_, index) => begin + index * cellMs)
  const isOpen = cellsAt.map(
    (at) => openMsBetween(place, new Date(at), new Date(Math.min(at + cellMs, now.getTime()))) > 0,
  )

  const kindOf = (index: number, at: number, reads: number, firstSync: Date | null) => {
    if (reads > 0) return 'read'
    if (firstSync === null || firstSync.getTime() >= at + cellMs) return 'none'
    return isOpen[index] ? 'missed' : 'closed'
  }

  return {
    since: new Date(begin),
    timelineOf(activity, initialSyncCompletedAt) {
      const readsAt = new Map<number, number>()
      for (const { at, reads } of activity) {
        const cell = Math.floor(at.getTime() / cellMs) * cellMs
        readsAt.set(cell, (readsAt.get(cell) ?? 0) + reads)
      }
      const drawn = cellsAt.map((at, index): FreshnessCell => {
        const reads = readsAt.get(at) ?? 0
        return { at: new Date(at), reads, kind: kindOf(index, at, reads, initialSyncCompletedAt) }
      })
      // The last cell still runs: it is shown as soon as it can no longer change.
      const last = drawn.at(-1)
      const isUndecided = last?.kind === 'missed' && now.getTime() - last.at.getTime() < Math.max(bucketMs, cellMs / 2)
      return isUndecided ? drawn.slice(0, -1) : drawn
    },
  }
}
