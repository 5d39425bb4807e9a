import type { Queryable } from '../../platform/database/queryable.ts'
import { Refusal } from '../../platform/errors/refusal.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import type { OfficeHours } from './office-hours.ts'

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
  /** Null: not told; the usual ones are taken then. */
  officeHours: OfficeHours | null
}

/** A dental practice at one address. */
export type Location = LocationSource & {
  id: LocationId
  organizationId: OrganizationId
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

/** The ids of all locations: for work that goes over every one of them, off the hot path. */
export async function listLocationIds(db: Queryable): Promise<LocationId[]> {
  const { rows } = await db.query<{ id: LocationId }>('select id from location order by id')
  return rows.map(({ id }) => id)
}

export async function findLocation(db: Queryable, id: LocationId): Promise<Location | null> {
  const { rows } = await db.query<LocationRow>(`select ${locationColumns} from location l where l.id = $1`, [id])
  return rows[0] ? toLocation(rows[0]) : null
}

/** The location; throws a Refusal when there is none. */
export async function requireLocation(db: Queryable, id: LocationId): Promise<Location> {
  const location = await findLocation(db, id)
  if (!location) throw new Refusal('location_unknown', `There is no location ${id}.`)
  return location
}

const sourceColumns = `source_id, name, address_line_1, address_line_2, city, state, postal_code, country, phone, email, website_url,
  time_zone, currency, is_active, pms_name, pms_version, office_hours`

/** Every column that a Location is made of, under the table's name `l`. */
export const locationColumns = `l.id, l.organization_id, ${sourceColumns
  .split(/,\s*/)
  .map((column) => `l.${column}`)
  .join(', ')}, l.created_at, l.updated_at`

export type LocationRow = SourceRow & {
  id: LocationId
  organization_id: OrganizationId
  created_at: Date
  updated_at: Date
}

type SourceRow = {
  source_id: string
  name: string
  address_line_1: string | null
  address_line_2: string | null
  city: string | null
  state: string | null
  postal_code: string | null
  country: string | null
  phone: string | null
  email: string | null
  website_url: string | null
  time_zone: string | null
  currency: string | null
  is_active: boolean
  pms_name: string | null
  pms_version: string | null
  office_hours: OfficeHours | null
}

const recordset = `json_to_recordset($2::json) as given (id bigint, source_id text, name text, address_line_1 text, address_line_2 text,
  city text, state text, postal_code text, country text, phone text, email text, website_url text, time_zone text, currency text,
  is_active boolean, pms_name text, pms_version text, office_hours jsonb)`

/** Stores new locations under the ids that they are given. `insertLocations` alone makes no location whole: see `upsertLocations`. */
export async function insertLocations(
  client: Queryable,
  organizationId: OrganizationId,
  locations: readonly (LocationSource & { id: LocationId })[],
): Promise<void> {
  const rows = locations.map((location) => ({ ...toRow(location), id: location.id }))
  await client.query(
    `insert into location (organization_id, id, ${sourceColumns})
     select $1, id, ${sourceColumns} from ${recordset}`,
    [organizationId, JSON.stringify(rows)],
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
    `update location l
        set (${sourceColumns}, updated_at) = row(${prefixed('given')}, clock_timestamp())
       from ${recordset}
      where l.organization_id = $1 and l.source_id = given.source_id
        and (${prefixed('l')}) is distinct from (${prefixed('given')})`,
    [organizationId, JSON.stringify(locations.map(toRow))],
  )
}

function toRow(source: LocationSource): SourceRow {
  return {
    source_id: source.sourceId,
    name: source.name,
    address_line_1: source.addressLine1,
    address_line_2: source.addressLine2,
    city: source.city,
    state: source.state,
    postal_code: source.postalCode,
    country: source.country,
    phone: source.phone,
    email: source.email,
    website_url: source.websiteUrl,
    time_zone: source.timeZone,
    currency: source.currency,
    is_active: source.isActive,
    pms_name: source.practiceManagementSystem.name,
    pms_version: source.practiceManagementSystem.version,
    office_hours: source.officeHours,
  }
}

export function toLocation(row: LocationRow): Location {
  return {
    id: row.id,
    organizationId: row.organization_id,
    sourceId: row.source_id,
    name: row.name,
    addressLine1: row.address_line_1,
    addressLine2: row.address_line_2,
    city: row.city,
    state: row.state,
    postalCode: row.postal_code,
    country: row.country,
    phone: row.phone,
    email: row.email,
    websiteUrl: row.website_url,
    timeZone: row.time_zone,
    currency: row.currency,
    isActive: row.is_active,
    practiceManagementSystem: { name: row.pms_name, version: row.pms_version },
    officeHours: row.office_hours,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
