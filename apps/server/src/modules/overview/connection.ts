import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { inForce } from '../consent/in-force.ts'
import { requireOrganization } from '../directory/organization.ts'
import {
  type FoundRow,
  type GrantedLocation,
  grantedColumns,
  grantedLocations,
  grantedTables,
  withStates,
} from './granted-location.ts'

/** An organization that granted a company something, with those of its granted locations that are on a page, of so many. */
export type Connection = {
  organizationId: OrganizationId
  organizationName: string
  purpose: string | null
  endsAt: Date | null
  locationsTotal: number
  locations: (GrantedLocation & { grantedAt: ReadonlyMap<DatasetName, Date> })[]
}

/**
 * A page of the locations that a company was granted, by the names of their organizations and their own, and how many there are. An
 * organization whose grant opens no location yet counts as one. `search` looks in both names and in cities. For the people of the company
 * itself: no record is read.
 */
export async function listConnections(
  pool: Pool,
  companyId: CompanyId,
  page: { search: string; limit: number; offset: number },
): Promise<{ total: number; connections: Connection[] }> {
  const { total, rows } = await queryPage<ConnectionRow>(
    pool,
    `with granted as (${grantedLocations('')})
     select o.id, o.name, count(l.id) over (partition by o.id) as locations, l.id as location_id, l.name as location_name
       from organization o
       left join (granted join location l on l.id = granted.location_id) on l.organization_id = o.id
      where o.id in (select organization_id from access_grant g where company_id = $1 and ${inForce('g')})
        and (o.name ilike $2 or l.name ilike $2 or l.city ilike $2)`,
    'lower(name), id, lower(location_name), location_id',
    page,
    [companyId, containing(page.search)],
  )
  const [locations, terms] = await Promise.all([
    locationsOf(
      pool,
      companyId,
      rows.flatMap((row) => row.location_id ?? []),
    ),
    termsOf(
      pool,
      companyId,
      rows.map(({ id }) => id),
    ),
  ])
  const byOrganization = Map.groupBy(rows, (row) => row.id)
  return {
    total,
    connections: [...byOrganization].map(([organizationId, own]) => ({
      organizationId,
      organizationName: own[0]?.name ?? '',
      purpose: terms.get(organizationId)?.purpose ?? null,
      endsAt: terms.get(organizationId)?.ends_at ?? null,
      locationsTotal: Number(own[0]?.locations ?? 0),
      locations: locations.filter((location) => location.organizationId === organizationId),
    })),
  }
}

/** One of the locations that a company was granted, with its organization; null: the company may read nothing there. */
export async function findConnection(
  pool: Pool,
  companyId: CompanyId,
  locationId: LocationId,
): Promise<Connection | null> {
  const [location] = await locationsOf(pool, companyId, [locationId])
  if (!location) return null
  const { organizationId } = location
  const [organization, terms] = await Promise.all([
    requireOrganization(pool, organizationId),
    termsOf(pool, companyId, [organizationId]),
  ])
  return {
    organizationId,
    organizationName: organization.name,
    purpose: terms.get(organizationId)?.purpose ?? null,
    endsAt: terms.get(organizationId)?.ends_at ?? null,
    locationsTotal: 1,
    locations: [location],
  }
}

/** The locations of an organization that a company may read; none where it granted nothing, so an id of others tells nothing. */
export async function grantedLocationIds(
  db: Queryable,
  companyId: CompanyId,
  organizationId: OrganizationId,
): Promise<LocationId[]> {
  const { rows } = await db.query<{ location_id: LocationId }>(
    `with granted as (${grantedLocations('')})
     select location_id from granted join location on id = location_id where organization_id = $2`,
    [companyId, organizationId],
  )
  return rows.map((row) => row.location_id)
}

/** They are the same for all grants of an organization to a company. */
async function termsOf(pool: Pool, companyId: CompanyId, organizationIds: readonly OrganizationId[]) {
  const { rows } = await pool.query<{ organization_id: OrganizationId; purpose: string | null; ends_at: Date | null }>(
    `select distinct on (organization_id) organization_id, purpose, ends_at
       from access_grant g
      where company_id = $1 and organization_id = any($2::bigint[]) and ${inForce('g')}`,
    [companyId, organizationIds],
  )
  return new Map(rows.map((row) => [row.organization_id, row]))
}

type ConnectionRow = {
  id: OrganizationId
  name: string
  locations: string
  location_id: LocationId | null
  location_name: string | null
}

/** How many organizations granted each of these companies something, and how many locations it may read. */
export async function countConnections(
  db: Queryable,
  companyId: CompanyId,
): Promise<{ organizations: number; locations: number }> {
  const { rows } = await db.query<{ organizations: string; locations: string }>(
    `with granted as (${grantedLocations('')})
     select (select count(*) from granted) as locations,
            (select count(distinct organization_id) from access_grant g where company_id = $1 and ${inForce('g')}) as organizations`,
    [companyId],
  )
  return { organizations: Number(rows[0]?.organizations ?? 0), locations: Number(rows[0]?.locations ?? 0) }
}

/** How many organizations granted each of these companies something; one that none did is not in it. */
export async function countOrganizationsOf(
  db: Queryable,
  companyIds: readonly CompanyId[],
): Promise<Map<CompanyId, number>> {
  const { rows } = await db.query<{ company_id: CompanyId; organizations: string }>(
    `select company_id, count(distinct organization_id) as organizations
       from access_grant g
      where company_id = any($1::uuid[]) and ${inForce('g')}
      group by company_id`,
    [companyIds],
  )
  return new Map(rows.map((row) => [row.company_id, Number(row.organizations)]))
}

/** The organizations that granted a company something, by name; at most so many. */
export async function listGrantingOrganizations(
  db: Queryable,
  companyId: CompanyId,
  limit: number,
): Promise<{ id: OrganizationId; name: string }[]> {
  const { rows } = await db.query<{ id: OrganizationId; name: string }>(
    `select id, name
       from organization
      where id in (select organization_id from access_grant where company_id = $1 and revoked_at is null)
      order by lower(name), id
      limit $2`,
    [companyId, limit],
  )
  return rows
}

async function locationsOf(
  pool: Pool,
  companyId: CompanyId,
  locationIds: readonly LocationId[],
): Promise<Connection['locations']> {
  const { rows } = await pool.query<FoundRow>(
    `with granted as (${grantedLocations('and g.location_id = any($2::bigint[])')})
     select ${grantedColumns}
       from ${grantedTables}
      order by lower(l.name), l.id`,
    [companyId, locationIds],
  )
  const [locations, grants] = await Promise.all([
    withStates(pool, rows),
    pool.query<{ location_id: LocationId; dataset: DatasetName; granted_at: Date }>(
      `select location_id, dataset, granted_at
         from dataset_grant
        where location_id = any($1::bigint[]) and company_id = $2`,
      [rows.map((row) => row.id), companyId],
    ),
  ])
  const byLocation = Map.groupBy(grants.rows, (row) => row.location_id)
  return locations.map((location) => ({
    ...location,
    grantedAt: new Map((byLocation.get(location.id) ?? []).map((row) => [row.dataset, row.granted_at])),
  }))
}
