import { randomUUID } from 'node:crypto'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { requireCompany } from '../directory/company.ts'
import { listLocations } from '../directory/location.ts'
import { lockOrganization } from '../directory/organization.ts'
import { closeDatasets, inOrder, openDatasets } from './dataset-grant.ts'

/** What an organization opens to a company, or closes again. `by` says who decided, for the history of its consents. */
export type GrantScope = {
  companyId: CompanyId
  organizationId: OrganizationId
  /** 'all': the whole organization, with every location that it will ever have. */
  locationIds: readonly LocationId[] | 'all'
  /** 'all': every dataset of today's contract; one that is added later needs a new consent. */
  datasets: readonly DatasetName[] | 'all'
  by: string
}

/** One consent, given and perhaps ended. `locationId` null: the whole organization. */
export type Grant = {
  companyId: CompanyId
  companyName: string
  organizationId: OrganizationId
  organizationName: string
  locationId: LocationId | null
  locationName: string | null
  dataset: DatasetName
  grantedAt: Date
  grantedBy: string
  revokedAt: Date | null
  revokedBy: string | null
}

/**
 * Lets a company read. In force with the commit, for the next request on every process. What was granted before stays as it was, with its
 * date and stamp. `alongside` happens in the same transaction. Returns how many datasets of how many locations were opened now. Throws a
 * Problem.
 */
export async function grantAccess(
  pool: Pool,
  scope: GrantScope,
  alongside?: (client: Queryable) => Promise<void>,
): Promise<{ locations: number; datasets: number }> {
  return await withTransaction(pool, async (client) => {
    const locationIds = await lockScope(client, scope)
    const datasets = namesOf(scope.datasets)
    for (const locationId of scope.locationIds === 'all' ? [null] : locationIds) {
      for (const dataset of datasets) await insertGrant(client, scope, locationId, dataset)
    }
    const opened = { locations: 0, datasets: 0 }
    for (const locationId of locationIds) {
      const missing = await openDatasets(client, { companyId: scope.companyId, locationId, datasets })
      opened.locations += missing.length > 0 ? 1 : 0
      opened.datasets += missing.length
    }
    await alongside?.(client)
    return opened
  })
}

/**
 * Ends what a company may read, from the next request on, on every process. For the whole organization it ends the grants of single
 * locations too. A single location that is open because all are cannot be taken out: that would quietly decide about the locations of the
 * future. `alongside` happens in the same transaction. Returns how many datasets of how many locations were closed. Throws a Problem.
 */
export async function revokeAccess(
  pool: Pool,
  scope: GrantScope,
  alongside?: (client: Queryable) => Promise<void>,
): Promise<{ locations: number; datasets: number }> {
  return await withTransaction(pool, async (client) => {
    const locationIds = await lockScope(client, scope)
    const datasets = namesOf(scope.datasets)
    if (scope.locationIds !== 'all') await refuseCoveredByAll(client, scope, datasets)
    await endGrants(client, scope, scope.locationIds === 'all' ? null : locationIds, datasets)
    const closed = { locations: 0, datasets: 0 }
    for (const locationId of locationIds) {
      const count = await closeDatasets(client, { companyId: scope.companyId, locationId, datasets })
      closed.locations += count > 0 ? 1 : 0
      closed.datasets += count
    }
    await alongside?.(client)
    return closed
  })
}

/** The consents of an organization, to a company, or all; those that ended too when asked for. The newest first. */
export async function listGrants(
  db: Queryable,
  filter: { organizationId?: OrganizationId; companyId?: CompanyId; withEnded?: boolean },
): Promise<Grant[]> {
  const conditions = [
    ...(filter.withEnded ? [] : ['g.revoked_at is null']),
    ...(filter.organizationId === undefined ? [] : ['g.organization_id = $1']),
    ...(filter.companyId === undefined ? [] : [`g.company_id = $${filter.organizationId === undefined ? 1 : 2}`]),
  ]
  const { rows } = await db.query<GrantRow>(
    `select g.company_id, c.name as company_name, g.organization_id, o.name as organization_name,
            g.location_id, l.name as location_name, g.dataset, g.granted_at, g.granted_by, g.revoked_at, g.revoked_by
       from access_grant g
       join company c on c.id = g.company_id
       join organization o on o.id = g.organization_id
       left join location l on l.id = g.location_id
      ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
      order by g.granted_at desc, g.location_id, g.dataset`,
    [filter.organizationId, filter.companyId].filter((value) => value !== undefined),
  )
  return rows.map((row) => ({
    companyId: row.company_id,
    companyName: row.company_name,
    organizationId: row.organization_id,
    organizationName: row.organization_name,
    locationId: row.location_id,
    locationName: row.location_name,
    dataset: row.dataset,
    grantedAt: row.granted_at,
    grantedBy: row.granted_by,
    revokedAt: row.revoked_at,
    revokedBy: row.revoked_by,
  }))
}

type GrantRow = {
  company_id: CompanyId
  company_name: string
  organization_id: OrganizationId
  organization_name: string
  location_id: LocationId | null
  location_name: string | null
  dataset: DatasetName
  granted_at: Date
  granted_by: string
  revoked_at: Date | null
  revoked_by: string | null
}

/** Holds the organization against other grants and new locations; gives the scope's locations in the order in which all lock them. */
async function lockScope(client: PoolClient, scope: GrantScope): Promise<LocationId[]> {
  await lockOrganization(client, scope.organizationId)
  await requireCompany(client, scope.companyId)
  const own = new Set((await listLocations(client, scope.organizationId)).map((location) => location.id))
  if (scope.locationIds === 'all') return inOrder([...own])
  const foreign = scope.locationIds.find((id) => !own.has(id))
  if (foreign !== undefined)
    throw new Problem('location_unknown', { errors: `The organization has no location ${foreign}.` })
  return inOrder([...new Set(scope.locationIds)])
}

function namesOf(datasets: GrantScope['datasets']): DatasetName[] {
  return datasets === 'all' ? datasetNames : datasetNames.filter((name) => datasets.includes(name))
}

async function insertGrant(
  client: PoolClient,
  scope: GrantScope,
  locationId: LocationId | null,
  dataset: DatasetName,
): Promise<void> {
  await client.query(
    `insert into access_grant (id, company_id, organization_id, location_id, dataset, granted_at, granted_by)
     values ($1, $2, $3, $4, $5, clock_timestamp(), $6)
         on conflict (company_id, organization_id, coalesce(location_id, 0), dataset) where revoked_at is null do nothing`,
    [randomUUID(), scope.companyId, scope.organizationId, locationId, dataset, scope.by],
  )
}

async function refuseCoveredByAll(
  client: PoolClient,
  scope: GrantScope,
  datasets: readonly DatasetName[],
): Promise<void> {
  const { rows } = await client.query(
    `select
       from access_grant
      where company_id = $1 and organization_id = $2 and location_id is null and dataset = any($3::text[]) and revoked_at is null
      limit 1`,
    [scope.companyId, scope.organizationId, datasets],
  )
  if (rows.length > 0) {
    throw new Problem('grant_covers_all_locations')
  }
}

/** `locationIds` null: every live grant of the company in the organization. */
async function endGrants(
  client: PoolClient,
  scope: GrantScope,
  locationIds: readonly LocationId[] | null,
  datasets: readonly DatasetName[],
): Promise<void> {
  await client.query(
    `update access_grant
        set revoked_at = clock_timestamp(), revoked_by = $4
      where company_id = $1 and organization_id = $2 and dataset = any($3::text[]) and revoked_at is null
        ${locationIds === null ? '' : 'and location_id = any($5::bigint[])'}`,
    [scope.companyId, scope.organizationId, datasets, scope.by, ...(locationIds === null ? [] : [locationIds])],
  )
}
