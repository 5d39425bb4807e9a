import type { DatasetName, FreshnessState } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { freshnessOf } from '../datasets/freshness.ts'
import type { OfficeHours } from '../directory/office-hours.ts'

/**
 * How many active locations are how current, each by the dataset that is furthest behind. One row for each location, over all of them: for the
 * operator, off the hot path.
 */
export async function countFreshness(
  db: Queryable,
  lastContactOf: (organizationId: OrganizationId) => Promise<Date | null>,
  now: Date,
): Promise<Record<FreshnessState, number>> {
  const { rows } = await db.query<LocationTimes>(
    `select l.organization_id, l.time_zone, l.office_hours,
            case when bool_and(s.synced_at is not null) then min(s.synced_at) end as synced_at,
            case when bool_and(s.initial_sync_completed_at is not null) then max(s.initial_sync_completed_at) end as completed_at
       from location l
       join dataset_state s on s.location_id = l.id
      where l.is_active
      group by l.id`,
  )
  const counts = { current: 0, stale: 0, disconnected: 0, pending: 0 }
  for (const row of rows) {
    const times = { syncedAt: row.synced_at, initialSyncCompletedAt: row.completed_at }
    const place = { timeZone: row.time_zone, officeHours: row.office_hours }
    counts[await freshnessOf(times, place, () => lastContactOf(row.organization_id), now)] += 1
  }
  return counts
}

/** Work that waits because a change alters many other records, the oldest first; at most a hundred datasets. */
export async function listRerenderBacklog(
  db: Queryable,
): Promise<{ locationId: LocationId; dataset: DatasetName; waiting: number; since: Date }[]> {
  const { rows } = await db.query<{ location_id: LocationId; dataset: DatasetName; waiting: string; since: Date }>(
    `select location_id, dataset, count(*) as waiting, min(created_at) as since
       from rerender_work
      group by location_id, dataset
      order by min(created_at), location_id, dataset
      limit 100`,
  )
  return rows.map((row) => ({
    locationId: row.location_id,
    dataset: row.dataset,
    waiting: Number(row.waiting),
    since: row.since,
  }))
}

export async function countRemovalHolds(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: string }>('select count(*) from removal_hold')
  return Number(rows[0]?.count)
}

/** Removals that wait for a person at any practice, the oldest first; at most a hundred. */
export async function listHeldRemovals(db: Queryable): Promise<HeldRemoval[]> {
  const { rows } = await db.query<HeldRemoval & { visible: string }>(
    `select h.location_id, l.name as location_name, o.name as organization_name, h.dataset,
            cardinality(h.source_ids) as missing, h.visible, h.held_at
       from removal_hold h
       join location l on l.id = h.location_id
       join organization o on o.id = l.organization_id
      order by h.held_at, h.location_id, h.dataset
      limit 100`,
  )
  return rows.map((row) => ({ ...row, visible: Number(row.visible) }))
}

type LocationTimes = {
  organization_id: OrganizationId
  time_zone: string | null
  office_hours: OfficeHours | null
  synced_at: Date | null
  completed_at: Date | null
}

type HeldRemoval = {
  location_id: LocationId
  location_name: string
  organization_name: string
  dataset: DatasetName
  missing: number
  visible: number
  held_at: Date
}
