import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type LocationId, type OrganizationId, parseNumericId } from '../../platform/identity/identity.ts'
import { attributionInstalled, type InstallState, installColumns } from '../attribution/store.ts'
import { notEnded } from '../consent/in-force.ts'
import type { Principal } from '../consent/read-permit.ts'
import { type ListedState, listDatasetStates } from '../datasets/dataset-state.ts'
import { findLocation, type Location, type LocationRow, locationColumns, toLocation } from '../directory/location.ts'
import { requireGrantedOrganization } from './granted-organization.ts'
import { createListMemory, type ListMemory } from './list-memory.ts'

/** A location as a company that may read it sees it. */
export type GrantedLocation = Location & {
  /** In the contract's order. */
  datasetsGranted: DatasetName[]
  /** Of the granted datasets, in the same order. */
  states: { dataset: DatasetName; state: ListedState }[]
  attributionScript: InstallState
}

/** One page of a list: of one organization when asked, and only those whose website carries the script. */
type ListedPage = { organizationId: OrganizationId | null; withAttributionScript: boolean; page: number; items: number }

/** Lists the locations that a company may read. Keeps how many there are, and where pages end, for those who walk through many. */
export type LocationLists = {
  /**
   * One page of the locations that the bearer's company may read, by id, how many there are in all, and whether more follow. Throws Problem
   * organization_unknown or organization_denied. Of more than a thousand locations the number may be old: by half a millisecond for each of them.
   */
  list: (
    principal: Principal,
    page: ListedPage,
  ) => Promise<{ total: number; hasMore: boolean; locations: GrantedLocation[] }>
}

export function createLocationLists(pool: Pool): LocationLists {
  const memory = createListMemory<LocationId>()
  return {
    async list(principal, page) {
      const { organizationId, withAttributionScript, items } = page
      if (organizationId !== null) await requireGrantedOrganization(pool, principal, organizationId)
      const list = `${principal.companyId} ${organizationId} ${withAttributionScript}`
      const known = memory.recall(list, page)
      const { total, rows } = await pageOfGranted(pool, principal, page, known)
      const listed = rows.slice(0, items)
      const hasMore = rows.length > items
      const lastId = hasMore ? (listed.at(-1)?.id ?? null) : null
      memory.note(list, page, { lastId, counted: known.total === null ? total : null })
      return { total, hasMore, locations: await withStates(pool, listed) }
    },
  }
}

/**
 * A page's locations, and one more where more follow; by dataset_grant_of_company, or by the organization's locations. `known`: where the page begins,
 * and how many there are in all; where that is not known, the statement skips the pages before and counts.
 */
async function pageOfGranted(
  pool: Pool,
  { companyId }: Principal,
  { organizationId, withAttributionScript, page, items }: ListedPage,
  known: ReturnType<ListMemory<LocationId>['recall']>,
): Promise<{ total: number; rows: FoundRow[] }> {
  const conditions = [
    withAttributionScript ? `and ${attributionInstalled('g.location_id')}` : '',
    organizationId === null ? '' : 'and g.location_id in (select id from location where organization_id = $6)',
  ].join(' ')
  const { rows } = await pool.query<PageRow>(
    `with granted as materialized (
       ${grantedLocations(`and g.location_id > $2 ${conditions}`)}
        order by g.location_id
        limit $3 offset $4
     ), counted as (
       select coalesce($5::bigint, (select count(*) from (${grantedLocations(conditions)}) every)) as total
     )
     select counted.total, page.*
       from counted
       left join (select ${grantedColumns} from ${grantedTables}) page on true
      order by page.id`,
    [
      companyId,
      known.after ?? '0',
      items + 1,
      known.after === null ? (page - 1) * items : 0,
      known.total,
      ...(organizationId === null ? [] : [organizationId]),
    ],
  )
  // An empty page is one row that only tells the total.
  const found = rows.filter(hasLocation).map(({ total: _, ...row }) => row)
  return { total: Number(rows[0]?.total ?? 0), rows: found }
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
    `with granted as (${grantedLocations('and g.location_id = $2')})
     select ${grantedColumns}
       from ${grantedTables}`,
    [principal.companyId, id],
  )
  const [location] = await withStates(pool, rows)
  if (location) return location
  throw new Problem((await findLocation(pool, id)) === null ? 'location_unknown' : 'location_denied')
}

/**
 * The locations that the company `$1` may read under these further conditions on dataset_grant `g`, with their datasets. From dataset_grant, which has the location of each grant, and changes in one
 * transaction with access_grant: by the primary key, or by dataset_grant_of_company.
 */
export function grantedLocations(conditions: string): string {
  return `
    select g.location_id, array_agg(g.dataset) as datasets
      from dataset_grant g
     where g.company_id = $1 and ${notEnded('g')} ${conditions}
     group by g.location_id`
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
