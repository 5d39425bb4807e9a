import type { DatasetName } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { inForce } from '../consent/in-force.ts'

/** One grant of the history, in force or ended. `locationId` null: every location, with every future one. */
export type GrantEntry = {
  companyId: CompanyId
  companyName: string
  organizationId: OrganizationId
  organizationName: string
  locationId: LocationId | null
  locationName: string | null
  dataset: DatasetName
  notes: boolean
  grantedAt: Date
  grantedBy: string
  revokedAt: Date | null
  revokedBy: string | null
  purpose: string | null
  /** When it ends or ended by the clock; null: it has no end. */
  endsAt: Date | null
}

type Filter = { organizationId?: OrganizationId | undefined; companyId?: CompanyId | undefined }

/** The grants in force, of an organization, to a company, or all; those that ended too when asked for. The newest first. */
export async function listGrants(
  db: Queryable,
  { withEnded, ...filter }: Filter & { withEnded?: boolean } = {},
): Promise<GrantEntry[]> {
  const { select, values } = selectOf(filter, withEnded ? [] : [inForce('g')])
  const { rows } = await db.query<RowOf<GrantEntry>>(`${select} order by ${order}`, values)
  return rows.map((row) => fromRow<GrantEntry>(row))
}

/**
 * A part of all grants, in force and ended, the newest first. `search` looks in the names of company, location and dataset, and in who
 * granted and ended it.
 */
export async function pageOfGrants(
  db: Queryable,
  filter: Filter,
  page: { search: string; limit: number; offset: number },
): Promise<{ total: number; grants: GrantEntry[] }> {
  const texts = `concat_ws(E'\\n', c.name, l.name, g.dataset, g.granted_by, g.revoked_by)`
  const { select, values } = selectOf(filter, [`${texts} ilike $1`], [containing(page.search)])
  const { total, rows } = await queryPage<RowOf<GrantEntry>>(db, select, order, page, values)
  return { total, grants: rows.map((row) => fromRow<GrantEntry>(row)) }
}

const order = 'granted_at desc, location_id, dataset'

/** The select of grants under these conditions and those of the filter, which follow `values`. */
function selectOf(filter: Filter, conditions: readonly string[], values: readonly unknown[] = []) {
  const columns = { organization_id: filter.organizationId, company_id: filter.companyId }
  const present = Object.entries(columns).filter(([, value]) => value !== undefined)
  const all = [...conditions, ...present.map(([column], index) => `g.${column} = $${values.length + index + 1}`)]
  return {
    select: `
      select g.company_id, c.name as company_name, g.organization_id, o.name as organization_name,
             g.location_id, l.name as location_name, g.dataset, g.notes, g.granted_at, g.granted_by, g.revoked_at, g.revoked_by,
             g.purpose, g.ends_at
        from access_grant g
        join company c on c.id = g.company_id
        join organization o on o.id = g.organization_id
        left join location l on l.id = g.location_id
       where ${['true', ...all].join(' and ')}`,
    values: [...values, ...present.map(([, value]) => value)],
  }
}
