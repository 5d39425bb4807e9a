import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { superuserUrl, type TestDatabase } from '../../platform/database/testing/test-database.ts'

/**
 * The data of an installation as one version made it, with what its people and programs hold: nothing in it depends on the code that reads it
 * later. Rows are texts, by column, as PostgreSQL writes them.
 */
export type Dump = {
  /** The last migration. */
  migration: string
  known: Known
  tables: { name: string; columns: string[]; rows: (string | null)[][] }[]
  sequences: { name: string; value: string }[]
}

/** What stands outside the database and must go on working. */
export type Known = {
  /** In base64. */
  secretKey: string
  clientId: string
  clientSecret: string
  agentKey: string
  agentId: string
  locationId: string
  cookie: string
  email: string
  /** A line of patients as the agent sent it. */
  sent: string
  /** By dataset: the whole list as it was served, and its watermark. */
  lists: Record<string, { data: unknown; watermark: string }>
}

const folder = join(import.meta.dirname, '../upgrades')

/** Those of releases: none before the first one. */
export function listDumps(): string[] {
  return globSync('*.json.gz', { cwd: folder })
}

export function readDump(name: string): Dump {
  return JSON.parse(gunzipSync(readFileSync(join(folder, name))).toString())
}

/** Named after its last migration: of each there is one, which stays as it is. */
export function writeDump(dump: Dump): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${dump.migration}.json.gz`), gzipSync(JSON.stringify(dump), { level: 9 }))
}

export async function dumpOf(database: TestDatabase, known: Known): Promise<Dump> {
  const { rows } = await database.ownerPool.query<{ name: string; columns: string[] }>(
    `select t.relname as name,
            array(select a.attname::text from pg_attribute a
                   where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                   order by a.attnum) as columns
       from pg_class t
      where t.relnamespace::regnamespace::text = any(current_schemas(false)) and t.relkind in ('r', 'p') and t.relname <> 'migration'
      order by t.relname`,
  )
  const tables = await withRows(database, rows)
  const sequences = await database.ownerPool.query<{ name: string; value: string }>(
    `select sequencename as name, last_value::text as value from pg_sequences
      where schemaname = any(current_schemas(false)) and last_value is not null order by 1`,
  )
  const newest = await database.ownerPool.query<{ name: string }>(
    'select name from migration order by number desc limit 1',
  )
  return { migration: newest.rows[0]?.name ?? '', known, tables, sequences: sequences.rows }
}

/** These tables with the rows that they have, of these columns, in an order that follows from the rows. */
export function withRows(
  database: TestDatabase,
  tables: readonly { name: string; columns: string[] }[],
): Promise<Dump['tables']> {
  return asSuperuser(database, async (client) => {
    const filled = []
    for (const { name, columns } of tables) {
      const texts = columns.map((column) => `${pg.escapeIdentifier(column)}::text`).join(', ')
      const text = `select ${texts} from ${pg.escapeIdentifier(name)} order by row(${texts})`
      const { rows } = await client.query<(string | null)[]>({ text, rowMode: 'array' })
      filled.push({ name, columns, rows })
    }
    return filled
  })
}

/** Puts the dump into a database that has its schema. What its migrations have put there themselves is replaced. */
export async function loadDump(database: TestDatabase, { tables, sequences }: Dump): Promise<void> {
  await database.ownerPool.query(
    `select disclosure_make_month(day::date)
       from (select generate_series(min(day), max(day), '1 month') from unnest($1::date[]) day) months(day)`,
    [monthsIn(tables)],
  )
  await asSuperuser(database, async (client) => {
    await client.query('begin')
    // Without the checks of foreign keys, whatever the order, and without triggers: rows come as they were.
    await client.query('set local session_replication_role = replica')
    await client.query(`truncate ${tables.map(({ name }) => pg.escapeIdentifier(name)).join(', ')}`)
    for (const { name, columns, rows } of tables) {
      const names = columns.map((column) => pg.escapeIdentifier(column)).join(', ')
      const places = columns.map((_, index) => `$${index + 1}`).join(', ')
      const into = `insert into ${pg.escapeIdentifier(name)} (${names}) overriding system value values (${places})`
      for (const row of rows) await client.query(into, row)
    }
    for (const { name, value } of sequences) await client.query('select setval($1::regclass, $2)', [name, value])
    await client.query('commit')
  })
}

/** Texts are then the same on every machine. */
async function asSuperuser<T>({ serverUrl }: TestDatabase, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const connectionString = superuserUrl(new URL(serverUrl).pathname.slice(1))
  const client = new pg.Client({
    connectionString,
    options: '-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601',
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function monthsIn(tables: Dump['tables']): string[] {
  return tables.flatMap(({ name, columns, rows }) => {
    const at = columns.indexOf(name === 'disclosure' ? 'disclosed_at' : 'day')
    if (name !== 'disclosure' && name !== 'disclosed_day') return []
    return rows.map((row) => `${row[at]?.slice(0, 7)}-01`)
  })
}
