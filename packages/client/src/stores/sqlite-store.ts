import { datasetNames } from '../dataset-resource.ts'
import { StoreConflictError, type SyncPosition, type SyncStore } from '../sync/store.ts'
import { columnsOf, recordOf } from './layout.ts'
import { openTarget } from './target-error.ts'

/** The part of node:sqlite that is used. Its types are not named in the package's own: an older Node does not have the module. */
type Database = {
  exec: (sql: string) => void
  prepare: (sql: string) => {
    run: (...values: (string | bigint)[]) => unknown
    all: (...values: (string | bigint)[]) => Record<string, unknown>[]
  }
  close: () => void
}

const schema = `
  pragma busy_timeout = 20000;
  pragma journal_mode = wal;
  pragma synchronous = normal;
  create table if not exists bridgework_record (
    dataset text not null, location_id integer not null, id integer not null, attributes text not null,
    primary key (dataset, location_id, id)
  ) strict;
  create table if not exists bridgework_position (
    dataset text not null, location_id integer not null, position text not null,
    primary key (dataset, location_id)
  ) strict;
`

/**
 * A copy in a SQLite file (Node 22.13 or newer). Records are in `bridgework_record`; for each dataset there is a view with a column for each
 * attribute: `select plan_name from insurance_plans where not is_hidden`.
 */
export function sqliteStore(file: string): Promise<SyncStore> {
  return openTarget(file, () => openStore(file))
}

async function openStore(file: string): Promise<SyncStore> {
  const database = await open(file)
  database.exec(schema)
  inTransaction(database, () => database.exec(views()))
  const list = database.prepare('select position from bridgework_position')
  const kept = database.prepare('select position from bridgework_position where dataset = ? and location_id = ?')
  const put = database.prepare(
    `insert into bridgework_record (dataset, location_id, id, attributes) values (?, ?, ?, ?)
     on conflict do update set attributes = excluded.attributes`,
  )
  const take = database.prepare('delete from bridgework_record where dataset = ? and location_id = ? and id = ?')
  const keep = database.prepare(
    `insert into bridgework_position (dataset, location_id, position) values (?, ?, ?)
     on conflict do update set position = excluded.position`,
  )
  const range = database.prepare(
    `select cast(id as text) as id, attributes from bridgework_record
      where dataset = ? and location_id = ? and id > ? order by bridgework_record.id limit 1000`,
  )
  return {
    async positions() {
      // Written by `apply` below, so it is one.
      return list.all().map(({ position }) => JSON.parse(String(position)) as SyncPosition)
    },
    async apply({ locationId, dataset, records, strayIds, previous, position }) {
      const location = BigInt(locationId)
      inTransaction(database, () => {
        const before = kept.all(dataset, location)[0]?.position
        if (before !== (previous === null ? undefined : JSON.stringify(previous)))
          throw new StoreConflictError(position)
        for (const { id, attributes } of records) put.run(dataset, location, BigInt(id), JSON.stringify(attributes))
        for (const id of strayIds) take.run(dataset, location, BigInt(id))
        keep.run(dataset, location, JSON.stringify(position))
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

/** Made anew at every start, so that a newer client shows what it knows. */
function views(): string {
  return datasetNames
    .map((name) => {
      const columns = columnsOf(name).map(([column]) => `json_extract(attributes, '$.${column}') as "${column}"`)
      const all = ['location_id', 'id', ...columns].join(', ')
      return `drop view if exists ${name}; create view ${name} as select ${all} from bridgework_record where dataset = '${name}';`
    })
    .join('\n')
}
