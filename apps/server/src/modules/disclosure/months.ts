import type { Queryable } from '../../platform/database/queryable.ts'

/**
 * Makes the tables of the database's current month (UTC) and of the next two, where they are missing; how many it made. Several processes may
 * do it at once, and nothing that reads or writes waits for it.
 */
export async function makeDisclosureMonths(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ made: number }>('select disclosure_make_months() as made')
  return rows[0]?.made ?? 0
}

/** Makes the tables of these months, each named by any of its days, as the owner of the schema: what a test puts there. */
export async function makeMonthsOf(owner: Queryable, days: readonly string[]): Promise<void> {
  await owner.query('select disclosure_make_month(day) from unnest($1::date[]) day', [days])
}

/** A month's pair of tables; `tables`: by their names in SQL. */
export type Month = { month: string; tables: string[] }

/** The months that have tables, from the earliest on. */
export async function listMonths(db: Queryable): Promise<Month[]> {
  const { rows } = await db.query<Month>(
    `select replace(name, '_', '-') as month,
            array[format('monthly.%I', 'disclosure_' || name), format('monthly.%I', 'disclosed_day_' || name)] as tables
       from (select substr(relname, length('disclosure_') + 1) as name
               from pg_class
              where relnamespace = 'monthly'::regnamespace and relkind = 'r' and starts_with(relname, 'disclosure_')) each
      order by 1`,
  )
  return rows
}

/** What there is from before `endsAt`. `firstIdAfter`: the lowest id from then on, or the highest of all ids. */
export async function measureMonth(db: Queryable, endsAt: Date) {
  const { rows } = await db.query<{
    disclosures: number
    locations: number
    first_at: Date | null
    last_at: Date | null
    last_id: string
    first_id_after: string
  }>(
    `select count(*)::float8 as disclosures, count(distinct location_id)::integer as locations, min(disclosed_at) as first_at,
            max(disclosed_at) as last_at, coalesce(max(id), 0) as last_id,
            coalesce((select min(id) from disclosure where disclosed_at >= $1), 9223372036854775807) as first_id_after
       from disclosure
      where disclosed_at < $1`,
    [endsAt],
  )
  // An aggregate without groups has one row.
  const [row] = rows as [(typeof rows)[number]]
  return {
    disclosures: row.disclosures,
    locations: row.locations,
    firstAt: row.first_at,
    lastAt: row.last_at,
    lastId: row.last_id,
    firstIdAfter: row.first_id_after,
  }
}

/** Drops a month's tables, as the owner of the schema. Locks the whole table: hand down a transaction that ends at once. */
export async function dropMonthTables(owner: Queryable, { tables }: Month): Promise<void> {
  await owner.query(`drop table ${tables.join(', ')}`)
}
