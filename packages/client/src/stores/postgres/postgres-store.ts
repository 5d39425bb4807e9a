import { type DatasetName, datasetNames } from '../../dataset-resource.ts'
import { StoreConflictError, type SyncPosition, type SyncStore } from '../../sync/store.ts'
import { directoryTables, recordOf, type StoreOptions, tableOf } from '../layout.ts'
import { openTarget, TargetError } from '../target-error.ts'
import { type Copy, copyRecords } from './postgres-copy.ts'
import { prepareSchema, quoted } from './postgres-layout.ts'
import { checkRows } from './postgres-rows.ts'
import { indexesOf, writeDirectory, writePage } from './postgres-tables.ts'

type Row = Record<string, unknown>
type Queryable = {
  query: ((sql: string, values?: unknown[]) => Promise<{ rows: Row[] }>) & ((command: Copy) => unknown)
}
/** The part of pg's Pool that is used; the package is an optional peer, so its types are not named in ours. */
type Pool = Queryable & {
  connect: () => Promise<Queryable & { release: (error?: Error) => void }>
  on: (event: 'error', listener: (error: Error) => void) => unknown
  end: () => Promise<void>
}

/**
 * A copy in Postgres 13 or newer, in a schema of its own. Each dataset has a table with a typed column for each attribute, and a view
 * `current_<dataset>` without hidden records and closed locations: `select sum(amount) from bridgework.current_ledger_transactions`. `raw_record` keeps the
 * records as the service sent them, for verification. A mirror of an earlier layout is brought to this one when it is opened, as a whole or
 * not at all. Needs the package `pg`.
 */
export function postgresStore(
  url: string,
  { schema = 'bridgework', ...options }: StoreOptions & { schema?: string } = {},
): Promise<SyncStore> {
  return openTarget(withoutPassword(url), () => openStore(url, schema, options))
}

/** For messages, which may end up in logs. */
function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return 'The URL of the database'
  const { protocol, username, host, pathname } = new URL(text)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}

/** Another encoding lacks characters of names, or takes any bytes for a text, which no one can read again. */
async function requireUnicode(pool: Queryable, url: string): Promise<void> {
  const [row] = (await pool.query('show server_encoding')).rows
  if (row?.server_encoding === 'UTF8') return
  throw new TargetError(
    withoutPassword(url),
    `The encoding of this database is ${row?.server_encoding}, and a mirror needs UTF8. Create another one: create database … encoding 'UTF8' template template0.`,
  )
}

async function openStore(url: string, schema: string, options: StoreOptions): Promise<SyncStore> {
  const pool = await openPool(url)
  const name = quoted(schema)
  try {
    await requireUnicode(pool, url)
    await inTransaction(pool, (client) => prepareSchema(client, schema, options))
  } catch (error) {
    await pool.end()
    throw error
  }
  return {
    async positions() {
      const { rows } = await pool.query(`select position from ${name}.sync_position`)
      // Written by `apply` below, so it is one.
      return rows.map(({ position }) => position as SyncPosition)
    },
    apply({ locationId, dataset, records, strayIds, previous, position, freshness }) {
      return inTransaction(pool, async (client) => {
        const { state = null, synced_at = null } = freshness ?? {}
        const kept = [dataset, locationId, JSON.stringify(position), state, synced_at]
        // First, so that another writer of the same dataset of the same location waits here.
        const { rows } = previous
          ? await client.query(
              `update ${name}.sync_position
                  set position = $3, state = coalesce($4, state), synced_at = coalesce($5, synced_at), checked_at = now()
                where dataset = $1 and location_id = $2 and position = $6::jsonb returning 1`,
              [...kept, JSON.stringify(previous)],
            )
          : await client.query(
              `insert into ${name}.sync_position (dataset, location_id, position, state, synced_at, checked_at)
               values ($1, $2, $3, $4, $5, now())
               on conflict do nothing returning 1`,
              kept,
            )
        if (rows.length === 0) throw new StoreConflictError(position)
        if (records.length > 0) {
          // A list by page number may repeat a record, and one statement must not write a row twice: the last one counts.
          const byId = new Map(records.map((record) => [record.id, record]))
          const once = [...byId.values()]
          // A first walk brings what the mirror does not have.
          const isFirst = previous?.watermark == null
          if (!isFirst || !(await copyRecords(client, name, dataset, locationId, once))) {
            const attributes = once.map((record) => JSON.stringify(record.attributes))
            await clearLists(client, name, dataset, locationId, [...byId.keys()])
            await client.query(writePage(name, dataset), [locationId, [...byId.keys()], `[${attributes.join(',')}]`])
          }
        }
        if (strayIds.length > 0) {
          await client.query(
            `delete from ${name}.raw_record where dataset = $1 and location_id = $2 and id = any ($3::bigint[])`,
            [dataset, locationId, strayIds],
          )
          await client.query(`delete from ${name}.${dataset} where location_id = $1 and id = any ($2::bigint[])`, [
            locationId,
            strayIds,
          ])
          await clearLists(client, name, dataset, locationId, strayIds)
        }
      })
    },
    async *read({ locationId, dataset }) {
      let after = '0'
      for (;;) {
        const { rows } = await pool.query(
          `select id::text as id, attributes::text as attributes from ${name}.raw_record as record
            where dataset = $1 and location_id = $2 and record.id > $3 order by record.id limit 1000`,
          [dataset, locationId, after],
        )
        if (rows.length === 0) return
        for (const { id, attributes } of rows) yield recordOf(dataset, String(id), String(attributes))
        after = String(rows.at(-1)?.id)
      }
    },
    checkRows: (key, { repair }) => inTransaction(pool, (client) => checkRows(client, name, key, repair)),
    saveDirectory: (directory) =>
      inTransaction(pool, async (client) => {
        for (const each of directoryTables) {
          await client.query(writeDirectory(name, each), [JSON.stringify(directory[each])])
        }
        const grants = directory.locations.flatMap(({ id, attributes }) =>
          attributes.datasets_granted.map((dataset) => ({ location_id: id, dataset })),
        )
        await client.query(`delete from ${name}.grants`)
        await client.query(
          `insert into ${name}.grants select * from json_to_recordset($1::json) as sent (location_id bigint, dataset text)`,
          [JSON.stringify(grants)],
        )
      }),
    forget: ({ locationId, dataset }) =>
      inTransaction(pool, async (client) => {
        for (const table of ['raw_record', 'sync_position']) {
          await client.query(`delete from ${name}.${table} where dataset = $1 and location_id = $2`, [
            dataset,
            locationId,
          ])
        }
        for (const table of [dataset, ...tableOf(dataset).lists.map((list) => list.name)]) {
          await client.query(`delete from ${name}.${table} where location_id = $1`, [locationId])
        }
        await client.query(
          `delete from ${name}.locations
            where id = $1 and not exists (select from ${name}.sync_position where location_id = $1)`,
          [locationId],
        )
      }),
    async finish() {
      const { rows } = await pool.query('select indexname from pg_indexes where schemaname = $1', [schema])
      const made = new Set(rows.map(({ indexname }) => String(indexname)))
      const missing = datasetNames
        .flatMap((dataset) => indexesOf(name, dataset))
        .filter((index) => !made.has(index.name))
      for (const { sql } of missing) await pool.query(sql)
      if (missing.length === 0) return
      await inTransaction(pool, async (client) => {
        // A quarter of the usual sample, for a quarter of the time. Autovacuum takes a whole one when enough has changed.
        await client.query('set local default_statistics_target = 25')
        for (const dataset of datasetNames) await client.query(`analyze ${name}.${dataset}`)
      })
    },
    close: () => pool.end(),
  }
}

async function clearLists(
  client: Queryable,
  schema: string,
  dataset: DatasetName,
  locationId: string,
  ids: readonly string[],
): Promise<void> {
  for (const { name, parent } of tableOf(dataset).lists) {
    await client.query(`delete from ${schema}.${name} where location_id = $1 and ${parent} = any ($2::bigint[])`, [
      locationId,
      ids,
    ])
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

/** With what statements mean, whatever the database and the role set. In one message, also behind a pooler. */
const begin =
  'begin isolation level read committed; set local standard_conforming_strings = on; set local array_nulls = on'

async function inTransaction<Result>(pool: Pool, work: (client: Queryable) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query(begin)
    const result = await work(client)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    // Its state is unknown: not to be used again.
    client.release(error instanceof Error ? error : new Error('broken'))
    throw error
  }
}
