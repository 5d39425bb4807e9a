import { datasetNames } from '../dataset-resource.ts'
import type { AttributeKind } from '../generated.ts'
import { StoreConflictError, type SyncPosition, type SyncStore } from '../sync/store.ts'
import { columnsOf, recordOf } from './layout.ts'
import { openTarget } from './target-error.ts'

type Row = Record<string, unknown>
type Queryable = { query: (sql: string, values?: unknown[]) => Promise<{ rows: Row[] }> }
/** The part of pg's Pool that is used; the package is an optional peer, so its types are not named in ours. */
type Pool = Queryable & {
  connect: () => Promise<Queryable & { release: (error?: Error) => void }>
  on: (event: 'error', listener: (error: Error) => void) => unknown
  end: () => Promise<void>
}

/**
 * A copy in Postgres 13 or newer, in a schema of its own. Records are in `record`; for each dataset there is a view with a typed column for each
 * attribute: `select plan_name from bridgework.insurance_plans where not is_hidden`. Needs the package `pg`.
 */
export function postgresStore(url: string, { schema = 'bridgework' } = {}): Promise<SyncStore> {
  return openTarget(withoutPassword(url), () => openStore(url, schema))
}

/** For messages, which may end up in logs. */
function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return 'The URL of the database'
  const { protocol, username, host, pathname } = new URL(text)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}

async function openStore(url: string, schema: string): Promise<SyncStore> {
  const pool = await openPool(url)
  const name = quoted(schema)
  try {
    await inTransaction(pool, (client) => prepare(client, schema))
  } catch (error) {
    await pool.end()
    throw error
  }
  return {
    async positions() {
      const { rows } = await pool.query(`select position from ${name}.position`)
      // Written by `apply` below, so it is one.
      return rows.map(({ position }) => position as SyncPosition)
    },
    apply({ locationId, dataset, records, strayIds, previous, position }) {
      return inTransaction(pool, async (client) => {
        // First, so that another writer of the same dataset of the same location waits here.
        const { rows } = previous
          ? await client.query(
              `update ${name}.position set position = $3
                where dataset = $1 and location_id = $2 and position = $4::jsonb returning 1`,
              [dataset, locationId, JSON.stringify(position), JSON.stringify(previous)],
            )
          : await client.query(
              `insert into ${name}.position (dataset, location_id, position) values ($1, $2, $3)
               on conflict do nothing returning 1`,
              [dataset, locationId, JSON.stringify(position)],
            )
        if (rows.length === 0) throw new StoreConflictError(position)
        if (records.length > 0) {
          // A list by page number may repeat a record, and one statement must not write a row twice: the last one counts.
          const byId = new Map(records.map(({ id, attributes }) => [id, JSON.stringify(attributes)]))
          await client.query(
            `insert into ${name}.record (dataset, location_id, id, attributes)
             select $1, $2, id, attributes::json from unnest($3::bigint[], $4::text[]) as page (id, attributes)
             on conflict (dataset, location_id, id) do update set attributes = excluded.attributes`,
            [dataset, locationId, [...byId.keys()], [...byId.values()]],
          )
        }
        if (strayIds.length > 0) {
          await client.query(
            `delete from ${name}.record where dataset = $1 and location_id = $2 and id = any ($3::bigint[])`,
            [dataset, locationId, strayIds],
          )
        }
      })
    },
    async *read({ locationId, dataset }) {
      let after = '0'
      for (;;) {
        const { rows } = await pool.query(
          `select id::text as id, attributes::text as attributes from ${name}.record
            where dataset = $1 and location_id = $2 and record.id > $3 order by record.id limit 1000`,
          [dataset, locationId, after],
        )
        if (rows.length === 0) return
        for (const { id, attributes } of rows) yield recordOf(dataset, String(id), String(attributes))
        after = String(rows.at(-1)?.id)
      }
    },
    close: () => pool.end(),
  }
}

async function openPool(url: string): Promise<Pool> {
  let pg: { Pool: new (options: { connectionString: string; max: number; connectionTimeoutMillis: number }) => unknown }
  try {
    const module = await import('pg')
    pg = module.default
  } catch (cause) {
    throw new Error('The Postgres store needs the package pg: npm install pg', { cause })
  }
  const pool = new pg.Pool({ connectionString: url, max: 8, connectionTimeoutMillis: 30_000 }) as Pool
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on('error', () => {})
  return pool
}

async function inTransaction(pool: Pool, work: (client: Queryable) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
    client.release()
  } catch (error) {
    // Its state is unknown: not to be used again.
    client.release(error instanceof Error ? error : new Error('broken'))
    throw error
  }
}

/** Tables, and a view for each dataset. Two that begin at once take turns. */
async function prepare(client: Queryable, schema: string): Promise<void> {
  const name = quoted(schema)
  await client.query(`select pg_advisory_xact_lock(hashtext('bridgework/client'))`)
  await client.query(`create schema if not exists ${name}`)
  await client.query(`create table if not exists ${name}.record (
    dataset text not null, location_id bigint not null, id bigint not null, attributes json not null,
    primary key (dataset, location_id, id))`)
  await client.query(`create table if not exists ${name}.position (
    dataset text not null, location_id bigint not null, position jsonb not null,
    primary key (dataset, location_id))`)
  for (const dataset of datasetNames) {
    const { rows } = await client.query(
      `select column_name, obj_description(format('%I.%I', table_schema, table_name)::regclass, 'pg_class') as made_as
         from information_schema.columns
        where table_schema = $1 and table_name = $2 order by ordinal_position`,
      [schema, dataset],
    )
    const known = new Map(columnsOf(dataset))
    const shown = rows.map(({ column_name }) => String(column_name)).filter((column) => !keys.includes(column))
    // A view that others were built upon can only grow at its end; one with a column that we do not know is a newer client's.
    if (shown.some((column) => !known.has(column))) continue
    // Made anew only when that changes it: it would wait for every open read.
    if (rows[0]?.made_as === viewForm && shown.length === known.size) continue
    const added = [...known.keys()].filter((column) => !shown.includes(column))
    const columns = [...shown, ...added].map((column) => [column, known.get(column) ?? 'json'] as const)
    // `json` keeps a record as it came; taken apart once for each row, not once for each column.
    await client.query(
      `create or replace view ${name}.${dataset} as
       select ${[...keys, ...columns.map(([column, kind]) => `${shownAs(column, kind)} as "${column}"`)].join(', ')}
         from ${name}.record, json_to_record(${withoutNul}) as attribute (${columns.map(([column, kind]) => `"${column}" ${isTime(kind) ? 'text' : types[kind]}`).join(', ')})
        where dataset = '${dataset}'`,
    )
    await client.query(`comment on view ${name}.${dataset} is '${viewForm}'`)
  }
}

/** The form of the views below; another one when it changes. */
const viewForm = 'bridgework client: 2'

/** A text of Postgres has no character 0, and of a JSON that has one nothing could be read. An even number of backslashes before it is text. */
const withoutNul = String.raw`case when strpos(attributes::text, '\u0000') = 0 then attributes
  else regexp_replace(attributes::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1', 'g')::json end`

/** ISO 8601 has a year 0; Postgres calls it 1 BC. */
function shownAs(column: string, kind: AttributeKind): string {
  if (!isTime(kind)) return `"${column}"`
  return `(case when "${column}" like '0000-%' then '0001' || substr("${column}", 5) || ' BC' else "${column}" end)::${types[kind]}`
}

function isTime(kind: AttributeKind): boolean {
  return kind === 'instant' || kind === 'date'
}

const keys = ['location_id', 'id']

const types: Record<AttributeKind, string> = {
  string: 'text',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
  instant: 'timestamptz',
  date: 'date',
  json: 'jsonb',
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
