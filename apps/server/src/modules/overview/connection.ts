import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import {
  type FoundRow,
  type GrantedLocation,
  grantedColumns,
  grantedLocations,
  grantedTables,
  withStates,
} from './granted-location.ts'

/** An organization that granted a company something, with what it opened. */
export type Connection = {
  organizationId: OrganizationId
  organizationName: string
  locations: (GrantedLocation & { grantedAt: ReadonlyMap<DatasetName, Date> })[]
}

/**
 * A page of the organizations that granted a company something, by name, and how many there are. `search` looks in the names of
 * organizations and locations; whoever is found is shown whole. For the people of the company itself: no record is read.
 */
export async function listConnections(
  pool: Pool,
  companyId: CompanyId,
  page: { search: string; limit: number; offset: number },
): Promise<{ total: number; connections: Connection[] }> {
  const { total, rows } = await queryPage<{ id: OrganizationId; name: string }>(
    pool,
    `select o.id, o.name
       from organization o
      where o.id in (select organization_id from access_grant where company_id = $1 and revoked_at is null)
        and (o.name ilike $2
             or exists (select
                          from (${grantedLocations('')}) granted
                          join location l on l.id = granted.location_id
                         where l.organization_id = o.id and l.name ilike $2))`,
    'lower(name), id',
    page,
    [companyId, containing(page.search)],
  )
  const locations = await locationsOf(
    pool,
    companyId,
    rows.map((row) => row.id),
  )
  const byOrganization = Map.groupBy(locations, (location) => location.organizationId)
  return {
    total,
    connections: rows.map((row) => ({
      organizationId: row.id,
      organizationName: row.name,
      locations: byOrganization.get(row.id) ?? [],
    })),
  }
}

/** How many organizations granted each of these companies something, and how many locations it may read. */
export async function countConnections(
  db: Queryable,
  companyId: CompanyId,
): Promise<{ organizations: number; locations: number }> {
  const { rows } = await db.query<{ organizations: string; locations: string }>(
    `with granted as (${grantedLocations('')})
     select (select count(*) from granted) as locations,
            (select count(distinct organization_id) from access_grant where company_id = $1 and revoked_at is null) as organizations`,
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
       from access_grant
      where company_id = any($1::uuid[]) and revoked_at is null
      group by company_id`,
    [companyIds],
  )
  return new Map(rows.map((row) => [row.company_id, Number(row.organizations)]))
}

async function locationsOf(
  pool: Pool,
  companyId: CompanyId,
  organizationIds: readonly OrganizationId[],
): Promise<Connection['locations']> {
  const { rows } = await pool.query<FoundRow>(
    `with granted as (${grantedLocations('')})
     select ${grantedColumns}
       from ${grantedTables}
      where l.organization_id = any($2::bigint[])
      order by lower(l.name), l.id`,
    [companyId, organizationIds],
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
