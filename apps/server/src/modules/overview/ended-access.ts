import type { DatasetName } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'

/** A part of what ended at one moment. `isEverywhere`: for all locations of the organization; `names`: the first ten of the others. */
export type EndedDataset = {
  dataset: DatasetName
  /** Whether the dataset itself may still be read. */
  isNotesAlone: boolean
  isEverywhere: boolean
  locations: number
  names: string[]
}

/** What an organization ended at one moment. */
export type EndedAccess = {
  organizationId: OrganizationId
  organizationName: string
  endedAt: Date
  datasets: EndedDataset[]
}

/** Rows of one answer: an act is one row for each dataset, with notes or without. */
const rowsMax = 200

/**
 * The access of a company that ended and was not granted again, the latest first. Of each grant its last end. For the people of the company
 * itself: it tells what they were granted and until when, and not who ended it. By access_grant_ended.
 */
export async function listEndedAccess(db: Queryable, companyId: CompanyId): Promise<EndedAccess[]> {
  const { rows } = await db.query<RowOf<EndedDataset & Omit<EndedAccess, 'datasets'>>>(
    `with live as materialized (
       select organization_id, location_id, dataset, notes
         from access_grant
        where company_id = $1 and revoked_at is null),
     last as (
       select organization_id, location_id, dataset, max(revoked_at) as at, max(revoked_at) filter (where notes) as notes_at
         from access_grant
        where company_id = $1 and revoked_at is not null
        group by organization_id, location_id, dataset),
     ended as (
       select last.organization_id, last.location_id, last.dataset, readable.is_so as is_readable,
              case when readable.is_so then last.notes_at else last.at end as revoked_at
         from last
         left join live here on here.organization_id = last.organization_id and here.dataset = last.dataset and here.location_id = last.location_id
         left join live everywhere on everywhere.organization_id = last.organization_id and everywhere.dataset = last.dataset
                                  and everywhere.location_id is null
        cross join lateral (select here.dataset is not null or everywhere.dataset is not null as is_so) readable
        where not readable.is_so or last.notes_at is not null and not (here.notes is true or everywhere.notes is true))
     select ended.organization_id, o.name as organization_name, ended.revoked_at as ended_at, ended.dataset,
            ended.is_readable as is_notes_alone, bool_or(ended.location_id is null) as is_everywhere,
            count(ended.location_id)::integer as locations,
            coalesce((array_agg(l.name order by lower(l.name)) filter (where l.id is not null))[1:10], '{}') as names
       from ended
       join organization o on o.id = ended.organization_id
       left join location l on l.id = ended.location_id
      group by ended.organization_id, o.name, ended.revoked_at, ended.dataset, ended.is_readable
      order by ended.revoked_at desc, lower(o.name), ended.organization_id, ended.dataset
      limit $2`,
    [companyId, rowsMax],
  )
  const found = rows.map(fromRow<EndedDataset & Omit<EndedAccess, 'datasets'>>)
  const byAct = Map.groupBy(found, ({ organizationId, endedAt }) => `${organizationId} ${endedAt.getTime()}`)
  return [...byAct.values()].flatMap((datasets) =>
    datasets.slice(0, 1).map(({ organizationId, organizationName, endedAt }) => ({
      organizationId,
      organizationName,
      endedAt,
      datasets,
    })),
  )
}
