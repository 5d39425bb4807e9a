import { type ChangeKind, changeKinds, type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { notEnded } from '../consent/in-force.ts'
import { formatMicros, type Stamp } from '../datasets/stamp.ts'
import type { OfficeHours } from '../directory/office-hours.ts'
import { type Horizon, stampOf } from './horizon.ts'

/** Where a row stands among all of an answer: the number of its kind, and two numbers of its own. */
export type Place = readonly [kind: number, first: string, second: number]

export const beforeAll: Place = [0, '-1', 0]

/** `at`: when the row last changed, as a stamp. */
export type ChangeRow = { readonly place: Place; readonly at: Stamp } & (
  | { kind: 'agreement'; version: number; enforcedAt: Date; acceptedAt: Date | null }
  | { kind: 'key'; clientId: string; endedAt: Date | null }
  | { kind: 'location'; locationId: LocationId; organizationId: OrganizationId; isActive: boolean; updatedAt: Date }
  | { kind: 'grant'; locationId: LocationId; dataset: DatasetName; grantedAt: Date | null; endedAt: Date | null }
  | DatasetRow
)

export type DatasetRow = {
  kind: 'dataset'
  locationId: LocationId
  dataset: DatasetName
  organizationId: OrganizationId
  timeZone: string | null
  officeHours: OfficeHours | null
  lastStamp: Stamp
  /** False: the company has not read it since it was granted, and its next delta is the whole dataset. */
  isRead: boolean
  syncedAt: Date | null
  initialSyncCompletedAt: Date | null
  isProvided: boolean
  grantedAt: Date
  held: { missing: number; visible: number; heldAt: Date } | null
}

export type ChangesAsked = {
  readonly companyId: CompanyId
  /** Rows that changed after this stamp; null: all that there is. */
  readonly since: Stamp | null
  readonly horizon: Pick<Horizon, 'restored'>
  /** The datasets that are served. */
  readonly datasets: readonly DatasetName[]
  readonly after: Place
  readonly limit: number
  /** Rows of these kinds alone; absent: of all. */
  readonly kinds?: readonly ChangeKind[]
  /** Of locations, grants and datasets only the rows of these locations; absent: of all. */
  readonly locationIds?: readonly LocationId[]
}

/**
 * The rows after a place, in their order, and whether there are more. Each kind is one statement that goes along the company's grants, so it costs
 * what the company may read, whatever the number of practices.
 */
export async function readChangeRows(
  pool: Pool,
  asked: ChangesAsked,
): Promise<{ rows: readonly ChangeRow[]; hasMore: boolean }> {
  const rows: ChangeRow[] = []
  for (const [number, kind] of changeKinds.entries()) {
    const wanted = asked.limit + 1 - rows.length
    if (number < asked.after[0] || wanted <= 0 || asked.kinds?.includes(kind) === false) continue
    const [, first, second] = number === asked.after[0] ? asked.after : beforeAll
    rows.push(...(await readers[kind](pool, asked, { number, first, second, wanted })))
  }
  return { rows: rows.slice(0, asked.limit), hasMore: rows.length > asked.limit }
}

type From = { number: number; first: string; second: number; wanted: number }
type Reader = (pool: Pool, asked: ChangesAsked, from: From) => Promise<ChangeRow[]>

const readers: Record<ChangeKind, Reader> = {
  agreement: async (pool, { companyId, since }, { number, first }) => {
    const { rows } = await pool.query<{
      version: number
      enforced_at: Date
      accepted_at: Date | null
      at: string
    }>(
      `select a.version, a.enforced_at, accepted.accepted_at,
              ${stampOf('greatest(a.published_at, accepted.accepted_at)')} as at
         from (select version, published_at, enforced_at from agreement order by version desc limit 1) a
         left join agreement_acceptance accepted on accepted.company_id = $1 and accepted.version = a.version
        where (a.published_at > $2 or accepted.accepted_at > $2) and a.version > $3::bigint`,
      [companyId, instantAfter(since), first],
    )
    return rows.map((row) => ({
      kind: 'agreement',
      place: [number, String(row.version), 0],
      at: Number(row.at),
      version: row.version,
      enforcedAt: row.enforced_at,
      acceptedAt: row.accepted_at,
    }))
  },

  key: async (pool, { companyId, since }, { number, first, wanted }) => {
    const { rows } = await pool.query<{ client_id: string; revoked_at: Date | null } & OrderedRow>(
      `select client_id, revoked_at, ${stampOf('created_at')} as first, ${stampOf('greatest(created_at, revoked_at)')} as at
         from key_pair
        where company_id = $1 and (created_at > $2 and (revoked_at is null or not $5) or revoked_at > $2 and not $5)
          and ${stampOf('created_at')} > $3
        order by created_at
        limit $4`,
      [companyId, instantAfter(since), first, wanted, since === null],
    )
    return rows.map((row) => ({
      kind: 'key',
      place: [number, row.first, 0],
      at: Number(row.at),
      clientId: row.client_id,
      endedAt: row.revoked_at,
    }))
  },

  location: async (pool, { companyId, since, locationIds }, { number, first, wanted }) => {
    const { rows } = await pool.query<
      { organization_id: OrganizationId; is_active: boolean; updated_at: Date } & OrderedRow
    >(
      `select l.id as first, l.organization_id, l.is_active, l.updated_at,
              ${stampOf('greatest(l.updated_at, granted.at)')} as at
         from (select g.location_id, max(g.granted_at) as at
                 from dataset_grant g
                where g.company_id = $1 and ${notEnded('g')} ${ofLocations('g.location_id', locationIds, '$5')}
                group by g.location_id) granted
         join location l on l.id = granted.location_id
        where (l.updated_at > $2 or granted.at > $2) and l.id > $3 ${ofLocations('l.id', locationIds, '$5')}
        order by l.id
        limit $4`,
      [companyId, instantAfter(since), first, wanted, ...valuesOf(locationIds)],
    )
    return rows.map((row) => ({
      kind: 'location',
      place: [number, row.first, 0],
      at: Number(row.at),
      // The ids of a granted location.
      locationId: row.first as LocationId,
      organizationId: row.organization_id,
      isActive: row.is_active,
      updatedAt: row.updated_at,
    }))
  },

  /** Those that began or ended. All that are in force are rows of their datasets. By the indexes of access_grant on what it was given, and its end. */
  grant: async (pool, { companyId, since, datasets, locationIds }, { number, first, second, wanted }) => {
    if (since === null) return []
    const { rows } = await pool.query<{ granted_at: Date | null; ended_at: Date | null } & DatasetOrderedRow>(
      `with changed as (
         select organization_id, location_id, dataset, max(greatest(granted_at, ended_at)) as at, max(ended_at) as ended_at
           from (select organization_id, location_id, dataset, granted_at,
                        case when revoked_at is not null or ends_at <= statement_timestamp() then least(revoked_at, ends_at) end as ended_at
                   from access_grant
                  where company_id = $1 and (granted_at > $2 or revoked_at > $2 or ends_at > $2 and ends_at <= statement_timestamp())) one
          group by organization_id, location_id, dataset)
       select l.id as first, changed.dataset, array_position($5::text[], changed.dataset) as second, max(d.granted_at) as granted_at,
              case when max(d.granted_at) is null then max(changed.ended_at) end as ended_at, ${stampOf('max(changed.at)')} as at
         from changed
         join location l on l.organization_id = changed.organization_id and l.id = coalesce(changed.location_id, l.id)
         left join dataset_grant d on d.location_id = l.id and d.company_id = $1 and d.dataset = changed.dataset and ${notEnded('d')}
        where (l.id, array_position($5::text[], changed.dataset)) > ($3, $4) and changed.dataset = any($7::text[])
              ${ofLocations('l.id', locationIds, '$8')}
        group by l.id, changed.dataset
        order by 1, 3
        limit $6`,
      [...[companyId, instantAfter(since), first, second, datasetNames, wanted, datasets], ...valuesOf(locationIds)],
    )
    return rows.map((row) => ({
      kind: 'grant',
      place: [number, row.first, row.second],
      at: Number(row.at),
      locationId: row.first as LocationId,
      dataset: row.dataset,
      grantedAt: row.granted_at,
      endedAt: row.ended_at,
    }))
  },

  /**
   * Those with a later stamp, of a later grant, and of a location that changed: opened again, its removals end without a turn. What a restore alone
   * gave its stamp, which lies ahead of the clock, every cursor of this epoch has seen.
   */
  dataset: async (pool, { companyId, since, horizon, datasets, locationIds }, { number, first, second, wanted }) => {
    const { rows } = await pool.query<StoredDataset & DatasetOrderedRow>(
      `select l.id as first, s.dataset, array_position($5::text[], s.dataset) as second, l.organization_id, l.time_zone, l.office_hours,
              s.last_stamp, s.synced_at, s.initial_sync_completed_at, s.is_provided, g.granted_at,
              g.granted_stamp is not null as is_read, r.remaining as missing, r.visible, r.held_at,
              greatest(case when s.last_stamp <> $6 then s.last_stamp end, ${stampOf('greatest(g.granted_at, l.updated_at)')}) as at
         from dataset_grant g
         join location l on l.id = g.location_id
         join dataset_state s on s.location_id = l.id and s.dataset = g.dataset
         left join removal r on r.location_id = l.id and r.dataset = s.dataset and r.state = 'held'
        where g.company_id = $1 and g.dataset = any($8::text[]) and ${notEnded('g')}
          and (s.last_stamp > $9 and s.last_stamp <> $6 or g.granted_at > $2 or l.updated_at > $2)
          and (l.id, array_position($5::text[], s.dataset)) > ($3, $4) ${ofLocations('l.id', locationIds, '$10')}
        order by 1, 3
        limit $7`,
      [
        companyId,
        instantAfter(since),
        first,
        second,
        datasetNames,
        since === null ? -1 : horizon.restored,
        wanted,
        datasets,
        since ?? -1,
        ...valuesOf(locationIds),
      ],
    )
    return rows.map((row) => ({
      kind: 'dataset',
      place: [number, row.first, row.second],
      at: Number(row.at),
      locationId: row.first as LocationId,
      dataset: row.dataset,
      organizationId: row.organization_id,
      timeZone: row.time_zone,
      officeHours: row.office_hours,
      lastStamp: Number(row.last_stamp),
      isRead: row.is_read,
      syncedAt: row.synced_at,
      initialSyncCompletedAt: row.initial_sync_completed_at,
      isProvided: row.is_provided,
      grantedAt: row.granted_at,
      held: row.held_at && { missing: Number(row.missing), visible: Number(row.visible), heldAt: row.held_at },
    }))
  },
}

type OrderedRow = { first: string; at: string }
type DatasetOrderedRow = OrderedRow & { second: number; dataset: DatasetName }
type StoredDataset = {
  organization_id: OrganizationId
  time_zone: string | null
  office_hours: OfficeHours | null
  last_stamp: string
  is_read: boolean
  synced_at: Date | null
  initial_sync_completed_at: Date | null
  is_provided: boolean
  granted_at: Date
  missing: string | null
  visible: string | null
  held_at: Date | null
}

function ofLocations(column: string, locationIds: ChangesAsked['locationIds'], parameter: string): string {
  return locationIds ? `and ${column} = any(${parameter}::bigint[])` : ''
}

function valuesOf(locationIds: ChangesAsked['locationIds']): (readonly LocationId[])[] {
  return locationIds ? [locationIds] : []
}

/** The stamp as an instant with microseconds; all that there is begins with 1970. */
function instantAfter(since: Stamp | null): string {
  return formatMicros(since ?? 0)
}
