import type { DatasetName, FreshnessState } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { readLastContacts } from '../agents/agent-contact.ts'
import { freshnessOf } from '../datasets/freshness.ts'
import { listLocationIdsAfter } from '../directory/location.ts'
import type { OfficeHours } from '../directory/office-hours.ts'

/** A location whose copy is not current, with whose it is. */
export type NotCurrent = {
  locationId: LocationId
  name: string
  organizationId: OrganizationId
  organizationName: string
  state: FreshnessState
}

/** How many active locations are how current, each by the dataset that is furthest behind, and the first of those that are not, the worst first. */
export type Freshness = { counts: Record<FreshnessState, number>; notCurrent: NotCurrent[] }

type LastContactOf = (organizationId: OrganizationId) => Promise<Date | null>

/** Of the locations of an organization. */
export async function surveyFreshness(
  db: Queryable,
  organizationId: OrganizationId,
  lastContactOf: LastContactOf,
  now: Date,
): Promise<Freshness> {
  const rows = await listTimes(db, 'l.organization_id = $1', organizationId)
  const survey = createSurvey()
  await survey.add(rows, lastContactOf, now)
  return survey.read()
}

/**
 * Of all locations, with how many there are and how many records they have: a thousand locations at a time. Records are counted by the states of
 * their datasets, which know their totals.
 */
export async function surveyAll(
  db: Queryable,
  now: Date,
): Promise<{ freshness: Freshness; locations: number; records: number }> {
  const survey = createSurvey()
  let [locations, records] = [0, 0]
  for (let after: LocationId | undefined = '0' as LocationId; after !== undefined; ) {
    const ids: LocationId[] = await listLocationIdsAfter(db, after, atOnce)
    const rows = await listTimes(db, 'l.id = any($1::bigint[])', ids)
    let contacts: ReturnType<typeof readLastContacts> | null = null
    const lastContactOf = async (organizationId: OrganizationId) => {
      contacts ??= readLastContacts(db, [...new Set(rows.map((row) => row.organization_id))])
      return (await contacts).get(organizationId) ?? null
    }
    await survey.add(rows, lastContactOf, now)
    locations += ids.length
    records += await countRecords(db, ids)
    after = ids.length < atOnce ? undefined : ids.at(-1)
  }
  return { freshness: survey.read(), locations, records }
}

const atOnce = 1_000

async function countRecords(db: Queryable, locationIds: readonly LocationId[]): Promise<number> {
  const { rows } = await db.query<{ records: string }>(
    'select coalesce(sum(total), 0) as records from dataset_state where location_id = any($1::bigint[])',
    [locationIds],
  )
  return Number(rows[0]?.records)
}

/** Of the active ones under this condition, by the names of their organizations and their own. */
async function listTimes(db: Queryable, condition: string, value: unknown): Promise<LocationTimes[]> {
  const { rows } = await db.query<LocationTimes>(
    `select l.id, l.name, l.organization_id, o.name as organization_name, l.time_zone, l.office_hours,
            count(s.location_id) > 0 as is_provided,
            case when bool_and(s.synced_at is not null) then min(s.synced_at) end as synced_at,
            case when bool_and(s.initial_sync_completed_at is not null) then max(s.initial_sync_completed_at) end as completed_at
       from location l
       join organization o on o.id = l.organization_id
       left join dataset_state s on s.location_id = l.id and s.is_provided
      where l.is_active and ${condition}
      group by l.id, o.name
      order by lower(o.name), lower(l.name), l.id`,
    [value],
  )
  return rows
}

/** Adds up how current locations are. Of those that are not it keeps as many as it shows. */
function createSurvey() {
  const counts = { current: 0, stale: 0, disconnected: 0, pending: 0, not_provided: 0 }
  let notCurrent: NotCurrent[] = []
  return {
    async add(rows: readonly LocationTimes[], lastContactOf: LastContactOf, now: Date): Promise<void> {
      const found = [...notCurrent]
      for (const row of rows) {
        const times = { isProvided: row.is_provided, syncedAt: row.synced_at, initialSyncCompletedAt: row.completed_at }
        const place = { timeZone: row.time_zone, officeHours: row.office_hours }
        const state = await freshnessOf(times, place, () => lastContactOf(row.organization_id), now)
        counts[state] += 1
        if (!worstFirst.includes(state)) continue
        const { id: locationId, name, organization_id: organizationId, organization_name: organizationName } = row
        found.push({ locationId, name, organizationId, organizationName, state })
      }
      notCurrent = worstFirst.flatMap((state) => found.filter((each) => each.state === state)).slice(0, notCurrentMax)
    },
    read: (): Freshness => ({ counts, notCurrent }),
  }
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
