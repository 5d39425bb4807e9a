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

/** Forgets what is older than 30 days. Housekeeping: goes over every location. */
export async function deleteOldSyncActivity(db: Queryable): Promise<void> {
  await db.query(`delete from sync_activity where bucket_at < now() - $1 * interval '1 day'`, [keptDays])
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
