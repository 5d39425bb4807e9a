import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { fromRow } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type OrganizationId, parseNumericId } from '../../platform/identity/identity.ts'
import { inForce } from '../consent/in-force.ts'
import type { Principal } from '../consent/read-permit.ts'
import {
  findOrganization,
  type Organization,
  type OrganizationRow,
  organizationColumns,
} from '../directory/organization.ts'
import { createListMemory } from './list-memory.ts'

/** An organization as a company that it granted something sees it. */
export type GrantedOrganization = Organization & {
  /** Of its locations those that the company may read. */
  locationsCount: number
  /** Datasets of any of its locations, in the contract's order. */
  datasetsGranted: DatasetName[]
  /** When the oldest grant that still holds was given. */
  grantedAt: Date
}

/** One page of the organizations that granted the bearer's company something, by id, how many there are in all, and whether more follow. */
export type OrganizationLists = {
  list: (
    principal: Principal,
    page: { page: number; items: number },
  ) => Promise<{ total: number; hasMore: boolean; organizations: GrantedOrganization[] }>
}

/** Of more than a thousand organizations the number may be old: by half a millisecond for each of them. By access_grant_live. */
export function createOrganizationLists(pool: Pool): OrganizationLists {
  const memory = createListMemory<OrganizationId>()
  return {
    async list({ companyId }, page) {
      const { items } = page
      const known = memory.recall(companyId, page)
      const { rows } = await pool.query<PageRow>(
        `with granted as materialized (
           ${grantedOrganizations('and g.organization_id > $2')}
            order by g.organization_id
            limit $3 offset $4
         ), counted as (
           select coalesce($5::bigint, (
                  select count(distinct organization_id) from access_grant g where company_id = $1 and ${inForce('g')})) as total
         )
         select counted.total, page.*
           from counted
           left join (
                select ${organizationColumns}, granted.locations_count, granted.datasets, granted.granted_at
                  from granted
                  join organization on organization.id = granted.organization_id) page on true
          order by page.id`,
        [companyId, known.after ?? '0', items + 1, known.after === null ? (page.page - 1) * items : 0, known.total],
      )
      // An empty page is one row that only tells the total.
      const total = Number(rows[0]?.total ?? 0)
      const organizations = rows.filter(hasOrganization).map(({ total: _, ...row }) => toGranted(row))
      const hasMore = organizations.length > items
      const listed = organizations.slice(0, items)
      const lastId = hasMore ? (listed.at(-1)?.id ?? null) : null
      memory.note(companyId, page, { lastId, counted: known.total === null ? total : null })
      return { total, hasMore, organizations: listed }
    },
  }
}

/** The organization of the path's text. Throws Problem organization_unknown, also for a malformed id, or organization_denied. */
export async function getGrantedOrganization(
  pool: Pool,
  principal: Principal,
  organizationId: string,
): Promise<GrantedOrganization> {
  const id = parseNumericId<OrganizationId>(organizationId)
  if (id === null) throw new Problem('organization_unknown')
  const { rows } = await pool.query<FoundRow>(
    `with granted as (${grantedOrganizations('and g.organization_id = $2')})
     select ${organizationColumns}, granted.locations_count, granted.datasets, granted.granted_at
       from granted
       join organization on organization.id = granted.organization_id`,
    [principal.companyId, id],
  )
  if (rows[0]) return toGranted(rows[0])
  return await refuseOrganization(pool, id)
}

/** Passes when the organization granted the bearer's company anything. Throws Problem organization_unknown or organization_denied. */
export async function requireGrantedOrganization(pool: Pool, principal: Principal, id: OrganizationId): Promise<void> {
  const { rows } = await pool.query(
    `select from access_grant g where company_id = $1 and organization_id = $2 and ${inForce('g')} limit 1`,
    [principal.companyId, id],
  )
  if (rows.length === 0) await refuseOrganization(pool, id)
}

async function refuseOrganization(pool: Pool, id: OrganizationId): Promise<never> {
  throw new Problem((await findOrganization(pool, id)) === null ? 'organization_unknown' : 'organization_denied')
}

/** What organizations under these conditions opened to the company `$1`: all of their locations, or as many as are granted one by one. */
const grantedOrganizations = (conditions: string) => `
    select g.organization_id, min(g.granted_at) as granted_at, array_agg(g.dataset) as datasets,
           case when bool_or(g.location_id is null)
                then (select count(*) from location l where l.organization_id = g.organization_id)
                else count(distinct g.location_id)
            end as locations_count
      from access_grant g
     where g.company_id = $1 and ${inForce('g')} ${conditions}
     group by g.organization_id`

type FoundRow = OrganizationRow & { locations_count: string; datasets: string[]; granted_at: Date }

type PageRow = { total: string } & (FoundRow | { [column in keyof FoundRow]: null })

function hasOrganization(row: PageRow): row is { total: string } & FoundRow {
  return row.id !== null
}

function toGranted({ locations_count, datasets, granted_at, ...row }: FoundRow): GrantedOrganization {
  return {
    ...fromRow<Organization>(row),
    locationsCount: Number(locations_count),
    datasetsGranted: datasetNames.filter((name) => datasets.includes(name)),
    grantedAt: granted_at,
  }
}
