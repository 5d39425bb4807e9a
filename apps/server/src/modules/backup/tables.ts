import type { Queryable } from '../../platform/database/queryable.ts'

/** `columns`: those that are stored, as a statement names them. */
export type BackedUpTable = { name: string; columns: string }
export type Migrations = readonly { number: number; sha256: string }[]

/**
 * Every table that a backup has: all that are logged, but for the list of migrations, which the target has. A table stands after those that its
 * foreign keys refer to, so that rows can be stored in this order.
 */
export async function listTables(db: Queryable): Promise<BackedUpTable[]> {
  const { rows } = await db.query<BackedUpTable & { refers_to: string[] }>(
    `select t.relname as name,
            (select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
               from pg_attribute a
              where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
            array(select distinct f.confrelid::regclass::text
                    from pg_constraint f
                   where f.conrelid = t.oid and f.contype = 'f' and f.confrelid <> t.oid) as refers_to
       from pg_class t
      where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and t.relpersistence = 'p' and t.relname <> 'migration'
      order by t.relname`,
  )
  const ordered = new Map<string, BackedUpTable>()
  while (ordered.size < rows.length) {
    const next = rows.find((row) => !ordered.has(row.name) && row.refers_to.every((name) => ordered.has(name)))
    if (!next) throw new Error('foreign keys refer to each other in a circle')
    ordered.set(next.name, { name: next.name, columns: next.columns })
  }
  return [...ordered.values()]
}

/** What the schema is made of. */
export async function listMigrations(db: Queryable): Promise<Migrations> {
  const { rows } = await db.query<{ number: number; sha256: string }>(
    'select number, sha256 from migration order by number',
  )
  return rows
}

/** Every sequence that has given a value, with the last one. */
export async function listSequences(db: Queryable): Promise<{ name: string; value: string }[]> {
  const { rows } = await db.query<{ name: string; value: string }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as value
       from pg_sequences
      where schemaname = 'public' and last_value is not null
      order by sequencename`,
  )
  return rows
}

/** About how many bytes the rows of all tables are. */
export async function measureTables(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ bytes: string }>(
    `select coalesce(sum(pg_table_size(oid)), 0)::bigint as bytes
       from pg_class
      where relnamespace in ('public'::regnamespace, 'monthly'::regnamespace) and relkind = 'r'`,
  )
  return Number(rows[0]?.bytes)
}
