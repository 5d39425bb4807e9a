import type { Queryable } from '../../platform/database/queryable.ts'

/**
 * Makes the tables of the database's current month (UTC) and of the next two, where they are missing; how many it made. Several processes may
 * do it at once, and nothing that reads or writes waits for it.
 */
export async function makeDisclosureMonths(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ made: number }>('select disclosure_make_months() as made')
  return rows[0]?.made ?? 0
}

/** Makes the tables of these months, each named by any of its days, as the owner of the schema: what a backup or a test puts there. */
export async function makeMonthsOf(owner: Queryable, days: readonly string[]): Promise<void> {
  await owner.query('select disclosure_make_month(day) from unnest($1::date[]) day', [days])
}

/** The first days of the months (UTC) that have a disclosure, from the earliest on. Reads the whole table. */
export async function listDisclosureMonths(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ month: string }>(
    `select distinct to_char(disclosed_at at time zone 'UTC', 'YYYY-MM-01') as month from disclosure order by 1`,
  )
  return rows.map(({ month }) => month)
}
