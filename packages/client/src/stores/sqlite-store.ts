import { datasetNames } from '../dataset-resource.ts'
import { StoreConflictError, type SyncPosition, type SyncRecord, type SyncStore } from '../sync/store.ts'
import { derivedNames, directoryTables, layoutName, recordOf, tableOf } from './layout.ts'
import { createIndexes, createTables, sqliteValue } from './sqlite-tables.ts'
import type { TableColumn } from './table.ts'
import { tables } from './tables.generated.ts'
import { openTarget } from './target-error.ts'
import { itemsOf, valueAt } from './typed-row.ts'

type Value = string | number | bigint | null
type Statement = {
  run: (...values: Value[]) => unknown
  all: (...values: Value[]) => Record<string, unknown>[]
}
/** The part of node:sqlite that is used. Its types are not named in the package's own: an older Node does not have the module. */
type Database = { exec: (sql: string) => void; prepare: (sql: string) => Statement; close: () => void }

/**
 * A copy in a SQLite file (Node 22.13 or newer). Each dataset has a table with a typed column for each attribute, and a view
 * `current_<dataset>` without hidden records: `select sum(amount) from current_ledger_transactions`. `raw_record` keeps the records as the
 * service sent them, for verification. A file of an earlier layout is brought to this one when it is opened, as a whole or not at all.
 */
export function sqliteStore(file: string): Promise<SyncStore> {
  return openTarget(file, () => openStore(file))
}

async function openStore(file: string): Promise<SyncStore> {
  const database = await open(file)
  database.exec('pragma busy_timeout = 20000; pragma journal_mode = wal; pragma synchronous = normal;')
  inTransaction(database, () => prepareFile(database))
  const list = database.prepare('select position from sync_position')
  const kept = database.prepare('select position from sync_position where dataset = ? and location_id = ?')
  const put = database.prepare(
    `insert into raw_record (dataset, location_id, id, attributes) values (?, ?, ?, ?)
     on conflict do update set attributes = excluded.attributes`,
  )
  const take = database.prepare('delete from raw_record where dataset = ? and location_id = ? and id = ?')
  const keep = database.prepare(
    `insert into sync_position (dataset, location_id, position, state, synced_at, checked_at) values (?, ?, ?, ?, ?, ?)
     on conflict do update set position = excluded.position, state = coalesce(excluded.state, state),
       synced_at = coalesce(excluded.synced_at, synced_at), checked_at = excluded.checked_at`,
  )
  const range = database.prepare(
    `select cast(id as text) as id, attributes from raw_record
      where dataset = ? and location_id = ? and id > ? order by raw_record.id limit 1000`,
  )
  const writers = createWriters(database)
  return {
    async positions() {
      // Written by `apply` below, so it is one.
      return list.all().map(({ position }) => JSON.parse(String(position)) as SyncPosition)
    },
    async apply({ locationId, dataset, records, strayIds, previous, position, freshness }) {
      const location = BigInt(locationId)
      inTransaction(database, () => {
        const before = kept.all(dataset, location)[0]?.position
        if (before !== (previous === null ? undefined : JSON.stringify(previous)))
          throw new StoreConflictError(position)
        for (const record of records) {
          put.run(dataset, location, BigInt(record.id), JSON.stringify(record.attributes))
          writers[dataset].write(location, record)
        }
        for (const id of strayIds) {
          take.run(dataset, location, BigInt(id))
          writers[dataset].remove(BigInt(id))
        }
        const { state = null, synced_at = null } = freshness ?? {}
        keep.run(dataset, location, JSON.stringify(position), state, synced_at, new Date().toISOString())
      })
    },
    async *read({ locationId, dataset }) {
      let after = 0n
      for (;;) {
        const rows = range.all(dataset, BigInt(locationId), after)
        if (rows.length === 0) return
        for (const { id, attributes } of rows) yield recordOf(dataset, String(id), String(attributes))
        after = BigInt(String(rows.at(-1)?.id))
      }
    },
    async saveDirectory(directory) {
      inTransaction(database, () => {
        for (const name of directoryTables) {
          const write = upsert(database, name, ['id'], tables[name].columns)
          for (const { id, attributes } of directory[name]) write([BigInt(id)], attributes)
        }
        database.exec('delete from grants')
        const grant = database.prepare('insert into grants (location_id, dataset) values (?, ?)')
        for (const { id, attributes } of directory.locations) {
          for (const dataset of attributes.datasets_granted) grant.run(BigInt(id), dataset)
        }
      })
    },
    async finish() {
      database.exec(createIndexes())
      database.exec('pragma optimize')
    },
    async close() {
      database.close()
    },
  }
}

async function open(file: string): Promise<Database> {
  try {
    const { DatabaseSync } = await import('node:sqlite')
    // The part that is used is the part that is typed.
    return new DatabaseSync(file) as unknown as Database
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_UNKNOWN_BUILTIN_MODULE')) throw cause
    const text = `The SQLite store needs node:sqlite: Node 22.13 or newer. This is ${process.version}; NDJSON files and Postgres work here.`
    throw new Error(text, { cause })
  }
}

function inTransaction(database: Database, work: () => void): void {
  database.exec('begin immediate')
  try {
    work()
    database.exec('commit')
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** After some errors, a full disk among them, SQLite has rolled back already; what it says of a second time must not hide the first error. */
function rollBack(database: Database): void {
  try {
    database.exec('rollback')
  } catch {
    // There was no transaction any more.
  }
}

/** Makes the tables, or makes those of another layout anew from the records. All within the caller's transaction. */
function prepareFile(database: Database): void {
  const objects = new Map(
    database
      .prepare(`select name, type from sqlite_schema where type in ('table', 'view')`)
      .all()
      .map(({ name, type }) => [String(name), String(type)]),
  )
  // The names of the first layout, which had views of one table.
  if (objects.has('bridgework_record')) {
    database.exec(
      'alter table bridgework_record rename to raw_record; alter table bridgework_position rename to sync_position;',
    )
    database.exec(`alter table sync_position add column state text; alter table sync_position add column synced_at text;
      alter table sync_position add column checked_at text;`)
  }
  database.exec(`
    create table if not exists raw_record (
      dataset text not null, location_id integer not null, id integer not null, attributes text not null,
      primary key (dataset, location_id, id)
    ) strict;
    create table if not exists sync_position (
      dataset text not null, location_id integer not null, position text not null, state text, synced_at text, checked_at text,
      primary key (dataset, location_id)
    ) strict;
    create table if not exists layout (name text not null) strict;`)
  if (database.prepare('select name from layout').all()[0]?.name === layoutName) return
  for (const name of derivedNames) {
    const type = objects.get(name)
    if (type) database.exec(`drop ${type} ${name}`)
  }
  database.exec(createTables())
  const writers = createWriters(database)
  const range = database.prepare(
    `select cast(location_id as text) as location_id, cast(id as text) as id, attributes, rowid from raw_record
      where dataset = ? and (location_id, id) > (?, ?) order by raw_record.location_id, raw_record.id limit 1000`,
  )
  for (const dataset of datasetNames) {
    for (let after: [bigint, bigint] = [0n, 0n]; ; ) {
      const rows = range.all(dataset, ...after)
      const [last] = rows.slice(-1)
      if (!last) break
      for (const { location_id, id, attributes } of rows) {
        writers[dataset].write(BigInt(String(location_id)), recordOf(dataset, String(id), String(attributes)))
      }
      after = [BigInt(String(last.location_id)), BigInt(String(last.id))]
    }
  }
  database.exec('delete from layout')
  database.prepare('insert into layout (name) values (?)').run(layoutName)
}

type Writer = { write: (location: bigint, record: SyncRecord) => void; remove: (id: bigint) => void }

/** What writes each dataset's records into its tables. */
function createWriters(database: Database): Record<(typeof datasetNames)[number], Writer> {
  const entries = datasetNames.map((dataset) => {
    const { columns, lists } = tableOf(dataset)
    const row = upsert(database, dataset, ['id', 'location_id'], columns)
    const remove = database.prepare(`delete from ${dataset} where id = ?`)
    const items = lists.map((list) => ({
      from: list.from,
      write: upsert(database, list.name, [list.parent, 'location_id', 'position'], list.columns),
      clear: database.prepare(`delete from ${list.name} where ${list.parent} = ?`),
    }))
    const writer: Writer = {
      write(location, record) {
        const id = BigInt(record.id)
        row([id, location], record.attributes)
        for (const { from, write, clear } of items) {
          clear.run(id)
          itemsOf(from, record).forEach((item, index) => {
            write([id, location, BigInt(index + 1)], item)
          })
        }
      },
      remove(id) {
        remove.run(id)
        for (const { clear } of items) clear.run(id)
      },
    }
    return [dataset, writer] as const
  })
  // One for each name.
  return Object.fromEntries(entries) as Record<(typeof datasetNames)[number], Writer>
}

/** Inserts a row, or replaces its columns: the values of the keys first, then those that an object has. */
function upsert(database: Database, table: string, keys: readonly string[], columns: readonly TableColumn[]) {
  const names = [...keys, ...columns.map(({ name }) => `"${name}"`)]
  const statement = database.prepare(
    `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})
     on conflict do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  )
  return (keyValues: readonly bigint[], attributes: unknown) => {
    statement.run(...keyValues, ...columns.map((column) => sqliteValue(column.kind, valueAt(column, attributes))))
  }
}
