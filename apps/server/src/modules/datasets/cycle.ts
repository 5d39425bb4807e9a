import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { activityBucket } from './sync-activity.ts'

export type FinishedRead = { locationId: LocationId; dataset: DatasetName; readAt: Date; isComplete: boolean }

/**
 * Takes note of finished reads, which modify no record: `synced_at` never moves back, nor ahead of our clock. The first complete read ends the
 * initial sync. The same statement counts the reads for the timelines of freshness, and how
 * old the copy had become. Locks in the order of writers: see `lockDatasetStates`.
 */
export async function finishReads(db: Queryable, reads: readonly FinishedRead[]): Promise<void> {
  await db.query(
    `with reported as (
       select location_id, dataset, least(max(read_at), clock_timestamp()) as read_at, bool_or(is_complete) as is_complete
         from unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::boolean[]) as r (location_id, dataset, read_at, is_complete)
        group by location_id, dataset),
     locked as (
       select s.location_id, s.dataset, s.synced_at, r.read_at, case when r.is_complete then clock_timestamp() end as completed_at
         from dataset_state s
         join reported r using (location_id, dataset)
        order by s.location_id, array_position($5::text[], s.dataset)
          for update of s),
     finished as (
       update dataset_state s
          set synced_at = greatest(s.synced_at, locked.read_at),
              initial_sync_completed_at = coalesce(s.initial_sync_completed_at, locked.completed_at)
         from locked
        where s.location_id = locked.location_id and s.dataset = locked.dataset
       returning s.location_id, s.dataset, ${activityBucket('locked.read_at')} as bucket_at,
                 case when locked.synced_at is not null
                      then greatest(0, extract(epoch from locked.read_at - locked.synced_at))::integer end as lag_seconds)
     insert into sync_activity (location_id, dataset, bucket_at, reads, lag_seconds)
     select location_id, dataset, bucket_at, 1, lag_seconds from finished order by location_id, dataset
         on conflict (location_id, dataset, bucket_at) do update
        set reads = sync_activity.reads + 1, lag_seconds = greatest(sync_activity.lag_seconds, excluded.lag_seconds)`,
    [
      reads.map(({ locationId }) => locationId),
      reads.map(({ dataset }) => dataset),
      reads.map(({ readAt }) => readAt),
      reads.map(({ isComplete }) => isComplete),
      datasetNames,
    ],
  )
}
