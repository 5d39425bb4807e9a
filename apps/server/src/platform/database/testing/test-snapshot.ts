import pg from 'pg'
import { superuserUrl } from './test-database.ts'

export type Snapshot = { restore: () => Promise<void> }

/** A copy of every row of a test's database, as a backup has it: `restore` puts them back, with the sequences. */
export async function takeSnapshot(pool: pg.Pool, schema: string): Promise<Snapshot> {
  const [database = ''] = await textsOf(pool, 'select current_database() as text')
  const tables = await textsOf(
    pool,
    `select tablename as text from pg_tables where schemaname = any(current_schemas(false))`,
  )
  const sequences = await textsOf(
    pool,
    `select sequencename as text from pg_sequences where schemaname = any(current_schemas(false))`,
  )
  await asSuperuser(database, [
    `drop schema if exists ${schema} cascade`,
    `create schema ${schema}`,
    ...tables.map((table) => `create unlogged table ${schema}.${table} as table ${table}`),
    ...sequences.map(
      (name) => `create unlogged table ${schema}.${name}_at as select last_value, is_called from ${name}`,
    ),
  ])
  const columns = await writableColumns(pool)
  const restored = [
    'begin',
    // Without the checks of foreign keys, whatever the order.
    'set local session_replication_role = replica',
    `truncate ${tables.map((table) => `${table}`).join(', ')}`,
    ...tables.map((table) => {
      const names = columns.get(table)
      return `insert into ${table} (${names}) overriding system value select ${names} from ${schema}.${table}`
    }),
    ...sequences.map((name) => `select setval('${name}', last_value, is_called) from ${schema}.${name}_at`),
    'commit',
  ]
  return { restore: () => asSuperuser(database, restored) }
}

/** Ends every connection of the database's pools, and what they were doing, as a server that dies does. */
export async function killConnections(pool: pg.Pool): Promise<void> {
  const [database = ''] = await textsOf(pool, 'select current_database() as text')
  await asSuperuser(database, [
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  ])
  // The pool may not have noticed yet: a statement on each connection fails on the dead ones, which leave it.
  await Promise.allSettled(Array.from({ length: pool.totalCount }, () => pool.query('select')))
}

async function asSuperuser(database: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl(database) })
  await client.connect()
  try {
    await client.query(statements.join(';\n'))
  } finally {
    await client.end()
  }
}

async function textsOf(pool: pg.Pool, query: string): Promise<string[]> {
  const { rows } = await pool.query<{ text: string }>(query)
  return rows.map(({ text }) => text)
}

/** By table, without those that the database computes. */
async function writableColumns(pool: pg.Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ name: string; columns: string }>(
    `select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
       from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace::regnamespace::text = any(current_schemas(false)) and c.relkind in ('r', 'p')
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      group by c.relname`,
  )
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}
