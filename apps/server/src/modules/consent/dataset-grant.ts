import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { codeOf } from '../../platform/errors/error-code.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { nextStamp } from '../datasets/stamp.ts'
import { lockDatasetStates, saveDatasetState } from '../datasets/writer-lock.ts'
import type { Access } from './access.ts'
import { inForce, notEnded } from './in-force.ts'

/** Opens datasets of locations to a company, without a stamp yet. What is open already keeps its date and stamp. `endsAt` null: no end. */
export async function openDatasets(
  client: Queryable,
  companyId: CompanyId,
  opened: Access,
  endsAt: Date | null,
): Promise<void> {
  await client.query(
    `insert into dataset_grant (location_id, company_id, dataset, granted_at, notes_since, ends_at)
     select opened.location_id, $1, opened.dataset, statement_timestamp(), case when opened.notes then statement_timestamp() end, $5
       from unnest($2::bigint[], $3::text[], $4::boolean[]) as opened (location_id, dataset, notes)
         on conflict (location_id, company_id, dataset) do nothing`,
    [
      companyId,
      opened.map(({ locationId }) => locationId),
      opened.map(({ dataset }) => dataset),
      opened.map(({ notes }) => notes),
      endsAt,
    ],
  )
}

/** Sets the end of all that a company may read at these locations; null: none. */
export async function setDatasetsEnd(
  client: Queryable,
  companyId: CompanyId,
  locationIds: readonly LocationId[],
  endsAt: Date | null,
): Promise<void> {
  await client.query(
    'update dataset_grant set ends_at = $3 where company_id = $1 and location_id = any($2::bigint[])',
    [companyId, locationIds, endsAt],
  )
}

/** Closes datasets of locations to a company: a statement for each dataset, for the reason of `endGrants`. */
export async function closeDatasets(client: Queryable, companyId: CompanyId, closed: Access): Promise<void> {
  for (const [dataset, grants] of Map.groupBy(closed, ({ dataset }) => dataset)) {
    await client.query(
      'delete from dataset_grant where company_id = $1 and dataset = $2 and location_id = any($3::bigint[])',
      [companyId, dataset, grants.map(({ locationId }) => locationId)],
    )
  }
}

/** Opens new locations to every company that the organization granted all of its locations. Call it under `lockOrganization`. */
export async function openForOrganizationGrants(
  client: Queryable,
  organizationId: OrganizationId,
  locationIds: readonly LocationId[],
): Promise<void> {
  await client.query(
    `insert into dataset_grant (location_id, company_id, dataset, granted_at, notes_since, ends_at)
     select opened.location_id, g.company_id, g.dataset, statement_timestamp(), case when g.notes then statement_timestamp() end,
            g.ends_at
       from access_grant g
      cross join unnest($2::bigint[]) as opened (location_id)
      where g.organization_id = $1 and g.location_id is null and ${inForce('g')}`,
    [organizationId, locationIds],
  )
}

/**
 * Draws the stamp of a grant at the company's first read. It takes its turn like a writer: under the lock of the dataset's state it draws
 * the next stamp, so that a delta from before it returns the whole dataset, and one from after it does not. The act that grants does not:
 * it would hold the locks of every location that it opens while it waits for one. Returns false when a writer kept its turn for a second.
 */
export async function drawGrantStamp(
  pool: Pool,
  grant: { companyId: CompanyId; locationId: LocationId; dataset: DatasetName },
): Promise<boolean> {
  const { companyId, locationId, dataset } = grant
  const draw = withTransaction(
    pool,
    async (client) => {
      const [held] = await lockDatasetStates(client, locationId, [dataset])
      if (!held) throw new Error('a granted dataset has no state')
      const { dataset: _, clock, ...state } = held
      const stamp = nextStamp(state.lastStamp, clock)
      const { rowCount } = await client.query(
        `update dataset_grant
            set granted_stamp = $4
          where location_id = $1 and company_id = $2 and dataset = $3 and granted_stamp is null`,
        [locationId, companyId, dataset, stamp],
      )
      // Another request of the company was quicker, or the grant has ended.
      if (rowCount === 0) return
      await saveDatasetState(client, locationId, dataset, { ...state, lastStamp: stamp })
    },
    { lockTimeoutMs: 1_000 },
  )
  return await draw.then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === '55P03') return false
      throw error
    },
  )
}

/** Of these locations, what each of these companies may read now, in numbers; a company that may read nothing is not in it. */
export async function summarizeAccess(
  db: Queryable,
  locationIds: readonly LocationId[],
  companyIds: readonly CompanyId[],
): Promise<Map<CompanyId, { locations: number; datasets: DatasetName[]; grantedAt: Date; endsAt: Date | null }>> {
  const { rows } = await db.query<{
    company_id: CompanyId
    locations: string
    datasets: DatasetName[]
    granted_at: Date
    ends_at: Date | null
  }>(
    `select company_id, count(distinct location_id) as locations, array_agg(distinct dataset) as datasets,
            min(granted_at) as granted_at, min(ends_at) as ends_at
       from dataset_grant g
      where location_id = any($1::bigint[]) and company_id = any($2::uuid[]) and ${notEnded('g')}
      group by company_id`,
    [locationIds, companyIds],
  )
  return new Map(
    rows.map((row) => [
      row.company_id,
      { locations: Number(row.locations), datasets: row.datasets, grantedAt: row.granted_at, endsAt: row.ends_at },
    ]),
  )
}
