import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf, toRow } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import type { OfficeHours } from './office-hours.ts'
import { requireTimeZone } from './organization.ts'

/** A location as its practice management system tells of it. `sourceId` is that system's own key, unique in the organization. */
export type LocationSource = {
  sourceId: string
  name: string
  addressLine1: string | null
  addressLine2: string | null
  city: string | null
  state: string | null
  postalCode: string | null
  country: string | null
  phone: string | null
  email: string | null
  websiteUrl: string | null
  timeZone: string | null
  currency: string | null
  isActive: boolean
  practiceManagementSystem: { name: string | null; version: string | null }
  /** Null: not known; the default hours apply. */
  officeHours: OfficeHours | null
}

/** A dental practice at one address. */
export type Location = LocationSource & {
  id: LocationId
  organizationId: OrganizationId
  /** Since when the practice management system has not had it; null while it has. */
  closedAt: Date | null
  /** What a person set; the agent reads with it and sends it back as `timeZone`. */
  assignedTimeZone: string | null
  createdAt: Date
  updatedAt: Date
}

/** The locations of an organization, or of all of them (null), by organization and name. */
export async function listLocations(db: Queryable, organizationId: OrganizationId | null): Promise<Location[]> {
  const { rows } = await db.query<LocationRow>(
    `select ${locationColumns}
       from location l
      ${organizationId === null ? '' : 'where l.organization_id = $1'}
      order by l.organization_id, lower(l.name), l.id`,
    organizationId === null ? [] : [organizationId],
  )
  return rows.map(toLocation)
}

/** At most so many ids of locations after this one, rising: for work that goes over every location, off the hot path. */
export async function listLocationIdsAfter(db: Queryable, after: LocationId, limit: number): Promise<LocationId[]> {
  const { rows } = await db.query<{ id: LocationId }>('select id from location where id > $1 order by id limit $2', [
    after,
    limit,
  ])
  return rows.map(({ id }) => id)
}

/** Whose each of these locations is; one that there is not is not in it. */
export async function organizationsOfLocations(
  db: Queryable,
  ids: readonly LocationId[],
): Promise<Map<LocationId, OrganizationId>> {
  const { rows } = await db.query<{ id: LocationId; organization_id: OrganizationId }>(
    'select id, organization_id from location where id = any($1::bigint[])',
    [ids],
  )
  return new Map(rows.map(({ id, organization_id }) => [id, organization_id]))
}

export async function findLocation(db: Queryable, id: LocationId): Promise<Location | null> {
  const { rows } = await db.query<LocationRow>({
    name: 'find-location',
    text: `select ${locationColumns} from location l where l.id = $1`,
    values: [id],
  })
  return rows[0] ? toLocation(rows[0]) : null
}

/** The location after this one by id; after the last one, the first. Null when there is none. Housekeeping: goes over every location. */
export async function findNextLocationId(db: Queryable, id: LocationId): Promise<LocationId | null> {
  const { rows } = await db.query<{ id: LocationId | null }>(
    'select coalesce((select min(id) from location where id > $1), (select min(id) from location)) as id',
    [id],
  )
  return rows[0]?.id ?? null
}

/** The location; throws a Problem when there is none. */
export async function requireLocation(db: Queryable, id: LocationId): Promise<Location> {
  const location = await findLocation(db, id)
  if (!location) throw new Problem('location_unknown', { errors: `There is no location ${id}.` })
  return location
}

/** Sets the time zone that the location's agent is to read with; null: as it finds it. Throws a Problem. */
export async function assignTimeZone(db: Queryable, id: LocationId, timeZone: string | null): Promise<void> {
  const name = timeZone === null ? null : requireTimeZone(timeZone)
  const { rowCount } = await db.query('update location set assigned_time_zone = $2 where id = $1', [id, name])
  if (rowCount === 0) throw new Problem('location_unknown', { errors: `There is no location ${id}.` })
}

const sourceColumns = `source_id, name, address_line_1, address_line_2, city, state, postal_code, country, phone, email, website_url,
  time_zone, currency, is_active, pms_name, pms_version, office_hours`

/** Every column that a Location is made of, under the table's name `l`. */
export const locationColumns = `l.id, l.organization_id, ${sourceColumns
  .split(/,\s*/)
  .map((column) => `l.${column}`)
  .join(', ')}, l.assigned_time_zone, l.closed_at, l.created_at, l.updated_at`

/** What the practice management system is stands in two columns. */
type Stored<T extends LocationSource> = Omit<T, 'practiceManagementSystem'> & {
  pmsName: string | null
  pmsVersion: string | null
}

export type LocationRow = RowOf<Stored<Location>>

const recordset = `json_to_recordset($2::json) as given (id bigint, source_id text, name text, address_line_1 text, address_line_2 text,
  city text, state text, postal_code text, country text, phone text, email text, website_url text, time_zone text, currency text,
  is_active boolean, pms_name text, pms_version text, office_hours jsonb)`

/** Stores new locations under the ids that they are given. `insertLocations` alone makes no location whole: see `upsertLocations`. */
export async function insertLocations(
  client: Queryable,
  organizationId: OrganizationId,
  locations: readonly (LocationSource & { id: LocationId })[],
): Promise<void> {
  await client.query(
    `insert into location (organization_id, id, ${sourceColumns})
     select $1, id, ${sourceColumns} from ${recordset}`,
    [organizationId, JSON.stringify(locations.map(toLocationRow))],
  )
}

/** Changes those whose columns differ, and no other: `is distinct from` counts two empty values as equal. */
export async function updateLocations(
  client: Queryable,
  organizationId: OrganizationId,
  locations: readonly LocationSource[],
): Promise<void> {
  if (locations.length === 0) return
  const prefixed = (table: string) =>
    sourceColumns
      .split(/,\s*/)
      .map((column) => `${table}.${column}`)
      .join(', ')
  await client.query(
    `with moment as (select clock_timestamp() as at)
     update location l
        set (${sourceColumns}, updated_at) = row(${prefixed('given')}, moment.at)
       from moment, ${recordset}
      where l.organization_id = $1 and l.source_id = given.source_id
        and (${prefixed('l')}) is distinct from (${prefixed('given')})`,
    [organizationId, JSON.stringify(locations.map(toLocationRow))],
  )
}

/** Notes which agent reported these locations last, and opens those that were closed. Returns the ids of these. */
export async function openLocations(
  client: Queryable,
  organizationId: OrganizationId,
  sourceIds: readonly string[],
  agentId: AgentId,
): Promise<LocationId[]> {
  await client.query(
    `update location set reported_by = $3
      where organization_id = $1 and source_id = any($2::text[]) and reported_by is distinct from $3`,
    [organizationId, sourceIds, agentId],
  )
  const { rows } = await client.query<{ id: LocationId }>(
    `with moment as (select clock_timestamp() as at)
     update location set closed_at = null, updated_at = moment.at
       from moment
      where organization_id = $1 and source_id = any($2::text[]) and closed_at is not null
      returning id`,
    [organizationId, sourceIds],
  )
  return rows.map((row) => row.id)
}

/** Closes the locations other than these, except those that one of the other agents reported last. Returns their ids. */
export async function closeLocations(
  client: Queryable,
  organizationId: OrganizationId,
  sourceIds: readonly string[],
  otherAgentIds: readonly AgentId[],
): Promise<LocationId[]> {
  const { rows } = await client.query<{ id: LocationId }>(
    `with moment as (select clock_timestamp() as at)
     update location set closed_at = moment.at, is_active = false, updated_at = moment.at
       from moment
      where organization_id = $1 and source_id <> all($2::text[]) and closed_at is null
        and coalesce(reported_by, 0) <> all($3::bigint[])
      returning id`,
    [organizationId, sourceIds, otherAgentIds],
  )
  return rows.map((row) => row.id)
}

function toLocationRow<T extends LocationSource>({ practiceManagementSystem, ...location }: T): RowOf<Stored<T>> {
  const { name: pmsName, version: pmsVersion } = practiceManagementSystem
  return toRow({ ...location, pmsName, pmsVersion }) as RowOf<Stored<T>>
}

export function toLocation(row: LocationRow): Location {
  const { pmsName, pmsVersion, ...location } = fromRow<Stored<Location>>(row)
  return { ...location, practiceManagementSystem: { name: pmsName, version: pmsVersion } }
}
