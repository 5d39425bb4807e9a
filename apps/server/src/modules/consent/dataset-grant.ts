import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { PoolClient } from 'pg'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { nextStamp } from '../datasets/stamp.ts'
import { lockDatasetStates, saveDatasetState } from '../datasets/writer-lock.ts'

/**
 * Opens datasets of one location to a company. A grant takes its turn like a writer: under the lock of the dataset's state it draws the
 * next stamp, so that a delta from before it knows to return the whole dataset, and one from after it does not. What is open already
 * keeps its stamp. Returns the datasets that were not open before. Whoever opens several locations does so in rising order of their ids.
 */
export async function openDatasets(
  client: PoolClient,
  grant: { companyId: CompanyId; locationId: LocationId; datasets: readonly DatasetName[] },
): Promise<DatasetName[]> {
  const { companyId, locationId } = grant
  const open = new Set(await listOpenDatasets(client, companyId, locationId))
  const missing = datasetNames.filter((name) => grant.datasets.includes(name) && !open.has(name))
  if (missing.length === 0) return []
  const states = await lockDatasetStates(client, locationId, missing)
  if (states.length < missing.length) throw new Error(`location ${locationId} lacks the state of a dataset`)
  for (const { dataset, clock, ...state } of states) {
    const stamp = nextStamp(state.lastStamp, clock)
    await saveDatasetState(client, locationId, dataset, { ...state, lastStamp: stamp })
    await client.query(
      `insert into dataset_grant (location_id, company_id, dataset, granted_stamp, granted_at)
       values ($1, $2, $3, $4, clock_timestamp())`,
      [locationId, companyId, dataset, stamp],
    )
  }
  return missing
}

/** Closes datasets of one location to a company; returns how many were open. */
export async function closeDatasets(
  client: PoolClient,
  grant: { companyId: CompanyId; locationId: LocationId; datasets: readonly DatasetName[] },
): Promise<number> {
  const { rowCount } = await client.query(
    'delete from dataset_grant where location_id = $1 and company_id = $2 and dataset = any($3::text[])',
    [grant.locationId, grant.companyId, grant.datasets],
  )
  return rowCount ?? 0
}

/** Opens new locations to every company that the organization granted all of its locations. Call it under `lockOrganization`. */
export async function openForOrganizationGrants(
  client: PoolClient,
  organizationId: OrganizationId,
  locationIds: readonly LocationId[],
): Promise<void> {
  const { rows } = await client.query<{ company_id: CompanyId; datasets: DatasetName[] }>(
    `select company_id, array_agg(dataset) as datasets
       from access_grant
      where organization_id = $1 and location_id is null and revoked_at is null
      group by company_id
      order by company_id`,
    [organizationId],
  )
  for (const locationId of inOrder(locationIds)) {
    for (const row of rows) {
      await openDatasets(client, { companyId: row.company_id, locationId, datasets: row.datasets })
    }
  }
}

/** Rising ids: the order in which everybody locks who locks several locations. Below 2^53, so a number holds them exactly. */
export function inOrder(locationIds: readonly LocationId[]): LocationId[] {
  return [...locationIds].sort((left, right) => Number(left) - Number(right))
}

async function listOpenDatasets(client: PoolClient, companyId: CompanyId, locationId: LocationId): Promise<string[]> {
  const { rows } = await client.query<{ dataset: string }>(
    'select dataset from dataset_grant where location_id = $1 and company_id = $2',
    [locationId, companyId],
  )
  return rows.map((row) => row.dataset)
}
