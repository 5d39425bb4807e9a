import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type LocationId, type OrganizationId, parseNumericId } from '../../platform/identity/identity.ts'
import { attributionInstalled, type InstallState, installColumns } from '../attribution/store.ts'
import { inForce } from '../consent/in-force.ts'
import type { Principal } from '../consent/read-permit.ts'
import { type ListedState, listDatasetStates } from '../datasets/dataset-state.ts'
import { findLocation, type Location, type LocationRow, locationColumns, toLocation } from '../directory/location.ts'
import { requireGrantedOrganization } from './granted-organization.ts'

/** A location as a company that may read it sees it. */
export type GrantedLocation = Location & {
  /** In the contract's order. */
  datasetsGranted: DatasetName[]
  /** Of the granted datasets, in the same order. */
  states: { dataset: DatasetName; state: ListedState }[]
  attributionScript: InstallState
}

/**
 * One page of the locations that the bearer's company may read, by id, and how many there are in all. Of one organization when asked:
 * throws Problem organization_unknown or organization_denied.
 */
export async function listGrantedLocations(
  pool: Pool,
  principal: Principal,
  page: { organizationId: OrganizationId | null; withAttributionScript: boolean; page: number; items: number },
): Promise<{ total: number; locations: GrantedLocation[] }> {
  const { organizationId } = page
  if (organizationId !== null) await requireGrantedOrganization(pool, principal, organizationId)
  const inOrganization = organizationId === null ? '' : 'and g.organization_id = $4'
  const { rows } = await pool.query<PageRow>(
    `with granted as (${page.withAttributionScript ? withScript(grantedLocations(inOrganization)) : grantedLocations(inOrganization)})
     select counted.total, page.*
       from (select count(*) as total from granted) counted
       left join (
            select ${grantedColumns}
              from ${grantedTables}
             order by l.id
             limit $2 offset $3) page on true
      order by page.id`,
    [
      principal.companyId,
      page.items,
      (page.page - 1) * page.items,
      ...(organizationId === null ? [] : [organizationId]),
    ],
  )
  // An empty page is one row that only tells the total.
  const found = rows.filter(hasLocation).map(({ total: _, ...row }) => row)
  return { total: Number(rows[0]?.total ?? 0), locations: await withStates(pool, found) }
}

/** The location of the path's text. Throws Problem location_unknown, also for a malformed id, or location_denied. */
export async function getGrantedLocation(
  pool: Pool,
  principal: Principal,
  locationId: string,
): Promise<GrantedLocation> {
  const id = parseNumericId<LocationId>(locationId)
  if (id === null) throw new Problem('location_unknown')
  const { rows } = await pool.query<FoundRow>(
    `with granted as (${grantedLocations('')})
     select ${grantedColumns}
       from ${grantedTables}
      where l.id = $2`,
    [principal.companyId, id],
  )
  const [location] = await withStates(pool, rows)
  if (location) return location
  throw new Problem((await findLocation(pool, id)) === null ? 'location_unknown' : 'location_denied')
}

/**
 * What the company `$1` may read: the locations of organizations that granted all of theirs, and those granted one by one. From the
 * grants, which are small tables, and not from dataset_grant, which on a cluster is spread by location; both change in one transaction.
 */
export function grantedLocations(inOrganization: '' | 'and g.organization_id = $4'): string {
  return `
    select location_id, array_agg(distinct dataset) as datasets
      from (select l.id as location_id, g.dataset
              from access_grant g
              join location l on l.organization_id = g.organization_id
             where g.company_id = $1 and g.location_id is null and ${inForce('g')} ${inOrganization}
             union all
            select g.location_id, g.dataset
              from access_grant g
             where g.company_id = $1 and g.location_id is not null and ${inForce('g')} ${inOrganization}) opened
     group by location_id`
}

/** What a granted location is made of, in a statement that begins `with granted as (${grantedLocations(…)})`. */
export const grantedColumns = `${locationColumns}, ${installColumns}, granted.datasets`
export const grantedTables = `granted
               join location l on l.id = granted.location_id
               left join attribution_script s on s.location_id = l.id`

export type FoundRow = LocationRow & RowOf<InstallState> & { datasets: string[] }

type PageRow = { total: string } & (FoundRow | { [column in keyof FoundRow]: null })

function hasLocation(row: PageRow): row is { total: string } & FoundRow {
  return row.id !== null
}

/** Those of the locations whose website carries the attribution script. */
function withScript(locations: string): string {
  return `select g.location_id, g.datasets from (${locations}) g where ${attributionInstalled('g.location_id')}`
}

/** Adds the datasets' states, of a whole page in one statement. */
export async function withStates(pool: Pool, rows: readonly FoundRow[]): Promise<GrantedLocation[]> {
  if (rows.length === 0) return []
  const states = await listDatasetStates(
    pool,
    rows.map((row) => row.id),
  )
  return rows.map(({ datasets, is_installed, installed_at, last_seen_at, ...row }) => {
    const datasetsGranted = datasetNames.filter((name) => datasets.includes(name))
    return {
      ...toLocation(row),
      datasetsGranted,
      states: datasetsGranted.map((dataset) => {
        const state = states.get(row.id)?.get(dataset)
        if (!state) throw new Error('a granted dataset has no state')
        return { dataset, state }
      }),
      attributionScript: fromRow<InstallState>({ is_installed, installed_at, last_seen_at }),
    }
  })
}
