import type { DatasetName, FreshnessState } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { freshnessOf } from '../datasets/freshness.ts'
import type { OfficeHours } from '../directory/office-hours.ts'

/** A location whose copy is not current, with whose it is. */
export type NotCurrent = {
  locationId: LocationId
  name: string
  organizationId: OrganizationId
  organizationName: string
  state: FreshnessState
}

/**
 * How many active locations are how current, each by the dataset that is furthest behind, and the first of those that are not, the worst first.
 * Of one organization, or of all of them (null): then for the operator, off the hot path.
 */
export async function surveyFreshness(
  db: Queryable,
  organizationId: OrganizationId | null,
  lastContactOf: (organizationId: OrganizationId) => Promise<Date | null>,
  now: Date,
): Promise<{ counts: Record<FreshnessState, number>; notCurrent: NotCurrent[] }> {
  const { rows } = await db.query<LocationTimes>(
    `select l.id, l.name, l.organization_id, o.name as organization_name, l.time_zone, l.office_hours,
            count(s.location_id) > 0 as is_provided,
            case when bool_and(s.synced_at is not null) then min(s.synced_at) end as synced_at,
            case when bool_and(s.initial_sync_completed_at is not null) then max(s.initial_sync_completed_at) end as completed_at
       from location l
       join organization o on o.id = l.organization_id
       left join dataset_state s on s.location_id = l.id and s.is_provided
      where l.is_active ${organizationId === null ? '' : 'and l.organization_id = $1'}
      group by l.id, o.name
      order by lower(o.name), lower(l.name), l.id`,
    organizationId === null ? [] : [organizationId],
  )
  const counts = { current: 0, stale: 0, disconnected: 0, pending: 0, not_provided: 0 }
  const found: NotCurrent[] = []
  for (const row of rows) {
    const times = {
      isProvided: row.is_provided,
      syncedAt: row.synced_at,
      initialSyncCompletedAt: row.completed_at,
    }
    const place = { timeZone: row.time_zone, officeHours: row.office_hours }
    const state = await freshnessOf(times, place, () => lastContactOf(row.organization_id), now)
    counts[state] += 1
    if (!worstFirst.includes(state)) continue
    const { id: locationId, name, organization_id: organizationId, organization_name: organizationName } = row
    found.push({ locationId, name, organizationId, organizationName, state })
  }
  const notCurrent = worstFirst.flatMap((state) => found.filter((each) => each.state === state))
  return { counts, notCurrent: notCurrent.slice(0, notCurrentMax) }
}

/** What a person should look at; the first state first. */
const worstFirst: readonly FreshnessState[] = ['disconnected', 'stale', 'pending']
/** As many as a person reads in a list of things to do. */
const notCurrentMax = 5

/**
 * Work that waits because a change alters many other records, the oldest first; at most a hundred datasets. `failing`: rows whose last try
 * failed, with the error of the one that failed most often.
 */
export async function listRerenderBacklog(db: Queryable): Promise<RerenderBacklog[]> {
  const { rows } = await db.query<RerenderBacklog & { waiting: string; failing: string }>(
    `select location_id, dataset, count(*) as waiting, min(created_at) as since, count(*) filter (where attempts > 0) as failing,
            (array_agg(last_error order by attempts desc))[1] as last_error
       from rerender_work
      group by location_id, dataset
      order by min(created_at), location_id, dataset
      limit 100`,
  )
  return rows.map((row) => ({ ...row, waiting: Number(row.waiting), failing: Number(row.failing) }))
}

export async function countHeldRemovals(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: string }>(`select count(*) from removal where state = 'held'`)
  return Number(rows[0]?.count)
}

/** Removals that wait for a person at any practice or are carried out, the oldest first; at most a hundred. */
export async function listCurrentRemovals(db: Queryable): Promise<CurrentRemoval[]> {
  const { rows } = await db.query<CurrentRemoval & Record<'remaining' | 'hidden' | 'visible', string>>(
    `select r.location_id, l.name as location_name, l.organization_id, o.name as organization_name, r.dataset, r.state, r.list_hash, r.remaining, r.hidden,
            r.visible, r.held_at, r.attempts, r.last_error
       from removal r
       join location l on l.id = r.location_id
       join organization o on o.id = l.organization_id
      where r.state in ('held', 'running')
      order by r.created_at, r.location_id, r.dataset
      limit 100`,
  )
  return rows.map((row) => ({
    ...row,
    remaining: Number(row.remaining),
    hidden: Number(row.hidden),
    visible: Number(row.visible),
  }))
}

type LocationTimes = {
  id: LocationId
  name: string
  organization_name: string
  organization_id: OrganizationId
  time_zone: string | null
  office_hours: OfficeHours | null
  is_provided: boolean
  synced_at: Date | null
  completed_at: Date | null
}

type RerenderBacklog = {
  location_id: LocationId
  dataset: DatasetName
  waiting: number
  failing: number
  last_error: string | null
  since: Date
}

type CurrentRemoval = {
  location_id: LocationId
  location_name: string
  organization_id: OrganizationId
  organization_name: string
  dataset: DatasetName
  state: 'held' | 'running'
  list_hash: string
  remaining: number
  hidden: number
  visible: number
  held_at: Date
  attempts: number
  last_error: string | null
}
