import type { Pool } from 'pg'

/** How large a table is with its indexes, and how many rows the planner believes that it has: counting them would read it. */
export type TableSize = { name: string; sizeBytes: number; rows: number }

/** The database's version and size, and its ten largest tables. */
export async function measureDatabase(
  pool: Pick<Pool, 'query'>,
): Promise<{ version: string; sizeBytes: number; largestTables: TableSize[] }> {
  const [whole, tables] = await Promise.all([
    pool.query<{ version: string; bytes: string }>(
      `select current_setting('server_version') as version, pg_database_size(current_database()) as bytes`,
    ),
    // A table of months is the sum of them, under its own name.
    pool.query<{ name: string; bytes: string; rows: string }>(
      `select coalesce(whole.relname, each.relname) as name, sum(pg_total_relation_size(each.oid))::bigint as bytes,
              sum(greatest(each.reltuples, 0))::bigint as rows
         from pg_class each
         left join pg_inherits i on i.inhrelid = each.oid
         left join pg_class whole on whole.oid = i.inhparent
        where each.relkind = 'r' and each.relnamespace::regnamespace::text = any(current_schemas(false) || 'monthly'::name)
        group by 1
        order by 2 desc, 1
        limit 10`,
    ),
  ])
  return {
    version: whole.rows[0]?.version ?? '',
    sizeBytes: Number(whole.rows[0]?.bytes ?? 0),
    largestTables: tables.rows.map((row) => ({
      name: row.name,
      sizeBytes: Number(row.bytes),
      rows: Number(row.rows),
    })),
  }
}
