import type { Queryable } from '../../platform/database/queryable.ts'

/** How many companies there are that are not closed, and how many of the active ones are not verified. */
export async function countCompanies(db: Queryable): Promise<{ companies: number; notVerified: number }> {
  const { rows } = await db.query<Record<'companies' | 'not_verified', string>>(
    `select (select count(*) from company where state <> 'closed') as companies,
            (select count(*) from company where state = 'active' and verified_at is null) as not_verified`,
  )
  const [row] = rows
  return {
    companies: Number(row?.companies),
    notVerified: Number(row?.not_verified),
  }
}
