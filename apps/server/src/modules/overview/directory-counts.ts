import type { Queryable } from '../../platform/database/queryable.ts'

/**
 * How many there are of what the operator looks after. Records are counted by the states of their datasets, which know their totals, so that a
 * hundred million of them cost no more than their locations.
 */
export async function countDirectory(
  db: Queryable,
): Promise<{ companies: number; notVerified: number; organizations: number; locations: number; records: number }> {
  const { rows } = await db.query<
    Record<'companies' | 'not_verified' | 'organizations' | 'locations' | 'records', string>
  >(
    `select (select count(*) from company where state <> 'closed') as companies,
            (select count(*) from company where state = 'active' and verified_at is null) as not_verified,
            (select count(*) from organization) as organizations,
            (select count(*) from location) as locations,
            (select coalesce(sum(total), 0) from dataset_state) as records`,
  )
  const [row] = rows
  return {
    companies: Number(row?.companies),
    notVerified: Number(row?.not_verified),
    organizations: Number(row?.organizations),
    locations: Number(row?.locations),
    records: Number(row?.records),
  }
}
