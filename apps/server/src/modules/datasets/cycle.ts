import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { Problem } from '../../platform/errors/problem.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { activityBucket } from './sync-activity.ts'

/**
 * Takes note of a finished read of a dataset, which modifies no record: `synced_at` never moves back, nor ahead of our clock. The first
 * complete read ends the initial sync. The same statement counts the read for the timeline of the dataset's freshness.
 */
export async function finishCycle(
  pool: Pool,
  cycle: { locationId: LocationId; dataset: DatasetName; readAt: Date; isComplete: boolean },
): Promise<{ syncedAt: Date }> {
  const { rows } = await pool.query<{ synced_at: Date }>(
    `with finished as (
       update dataset_state
          set synced_at = greatest(synced_at, least($3::timestamptz, clock_timestamp())),
              initial_sync_completed_at = case when $4 then coalesce(initial_sync_completed_at, clock_timestamp())
                                               else initial_sync_completed_at end
        where location_id = $1 and dataset = $2
        returning synced_at, ${activityBucket('least($3::timestamptz, clock_timestamp())')} as bucket_at),
     noted as (
       insert into sync_activity (location_id, dataset, bucket_at, reads)
       select $1, $2, bucket_at, 1 from finished
           on conflict (location_id, dataset, bucket_at) do update set reads = sync_activity.reads + 1)
     select synced_at from finished`,
    [cycle.locationId, cycle.dataset, cycle.readAt, cycle.isComplete],
  )
  if (!rows[0]) throw new Problem('location_unknown')
  return { syncedAt: rows[0].synced_at }
}
