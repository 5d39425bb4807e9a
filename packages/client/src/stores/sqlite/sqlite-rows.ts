import { type DatasetName, datasetNames } from '../../dataset-resource.ts'
import type { SyncRecord } from '../../sync/store.ts'
import { tableOf } from '../layout.ts'
import type { TableColumn } from '../table.ts'
import { itemsOf, valueAt } from '../typed-row.ts'
import { sqliteValue } from './sqlite-tables.ts'

type Value = string | number | bigint | null
type Statement = {
  run: (...values: Value[]) => { changes: number | bigint }
  all: (...values: Value[]) => Record<string, unknown>[]
}
/** The part of node:sqlite that is used. Its types are not named in the package's own: an older Node does not have the module. */
export type Database = { exec: (sql: string) => void; prepare: (sql: string) => Statement; close: () => void }

/** What a dataset's tables have of its records. */
export type Rows = {
  write: (location: bigint, record: SyncRecord) => void
  /** The rows of a record at this location; null: wherever they are. */
  remove: (id: bigint, location: bigint | null) => void
  /** All rows of a location. */
  removeAll: (location: bigint) => void
  /** Whether the tables have of a record exactly what writing it gives. */
  match: (location: bigint, record: SyncRecord) => boolean
  /** The ids of rows at a location, or at one that the mirror does not have, that no record gives. */
  strayIds: (location: bigint) => bigint[]
}

/** What writes each dataset's records into its tables, and compares them. */
export function createRows(database: Database): Record<DatasetName, Rows> {
  // One for each name.
  return Object.fromEntries(datasetNames.map((name) => [name, rowsOf(database, name)])) as Record<DatasetName, Rows>
}

function rowsOf(database: Database, dataset: DatasetName): Rows {
  const { columns, lists } = tableOf(dataset)
  const keys = ['id', 'location_id']
  const row = {
    insert: insert(database, dataset, keys, columns),
    replace: upsert(database, dataset, keys, columns),
    has: matcher(database, dataset, keys, columns),
  }
  const at = '(?2 is null or location_id = ?2)'
  const remove = database.prepare(`delete from ${dataset} where id = ?1 and ${at}`)
  const removeAll = [dataset, ...lists.map(({ name }) => name)].map((name) =>
    database.prepare(`delete from ${name} where location_id = ?`),
  )
  const items = lists.map(({ name, parent, from, columns }) => {
    const keys = [parent, 'location_id', 'position']
    return {
      from,
      write: upsert(database, name, keys, columns),
      has: matcher(database, name, keys, columns),
      count: database.prepare(`select count(*) as n from ${name} where ${parent} = ?`),
      clear: database.prepare(`delete from ${name} where ${parent} = ?1 and ${at}`),
    }
  })
  const tables = [{ name: dataset, id: 'id' }, ...lists.map(({ name, parent }) => ({ name, id: parent }))]
  const strays = database.prepare(
    `select cast(id as text) as id
       from (${tables.map(({ name, id }) => rowsAt(dataset, name, id)).join(' union ')}) as own
      where not exists (select 1 from raw_record where dataset = '${dataset}' and location_id = ?1 and raw_record.id = own.id)`,
  )
  return {
    write(location, record) {
      const id = BigInt(record.id)
      // A new row, as all of a first walk are, has no lists to replace.
      const isNew = row.insert([id, location], record.attributes)
      if (!isNew) row.replace([id, location], record.attributes)
      for (const { from, write, clear } of items) {
        if (!isNew) clear.run(id, null)
        itemsOf(from, record).forEach((item, index) => {
          write([id, location, BigInt(index + 1)], item)
        })
      }
    },
    remove(id, location) {
      remove.run(id, location)
      for (const { clear } of items) clear.run(id, location)
    },
    removeAll(location) {
      for (const statement of removeAll) statement.run(location)
    },
    match(location, record) {
      const id = BigInt(record.id)
      if (!row.has([id, location], record.attributes)) return false
      return items.every(({ from, has, count }) => {
        const list = itemsOf(from, record)
        if (count.all(id)[0]?.n !== list.length) return false
        return list.every((item, index) => has([id, location, BigInt(index + 1)], item))
      })
    },
    strayIds: (location) => strays.all(location).map(({ id }) => BigInt(String(id))),
  }
}

/** The ids of a location's rows, and of those at a location that the mirror does not have: in two selects, because the first then uses its index. */
function rowsAt(dataset: DatasetName, table: string, id: string): string {
  return `select ${id} as id from ${table} where location_id = ?1
    union select ${id} from ${table}
     where location_id not in (select location_id from sync_position where dataset = '${dataset}')`
}

/** Inserts a row, or replaces its columns: the values of the keys first, then those that an object has. */
export function upsert(database: Database, table: string, keys: readonly string[], columns: readonly TableColumn[]) {
  const replaced = namesOf(keys, columns).map((name) => `${name} = excluded.${name}`)
  return writer(database, table, keys, columns, `do update set ${replaced.join(', ')}`)
}

/** Inserts a row where there is none with its key. Returns whether there was none. */
function insert(database: Database, table: string, keys: readonly string[], columns: readonly TableColumn[]) {
  const write = writer(database, table, keys, columns, 'do nothing')
  return (keyValues: readonly bigint[], attributes: unknown) => write(keyValues, attributes).changes !== 0
}

function writer(
  database: Database,
  table: string,
  keys: readonly string[],
  columns: readonly TableColumn[],
  onConflict: string,
) {
  const names = namesOf(keys, columns)
  const statement = database.prepare(
    `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) on conflict ${onConflict}`,
  )
  return (keyValues: readonly bigint[], attributes: unknown) =>
    statement.run(...keyValues, ...valuesOf(columns, attributes))
}

/** Whether a table has the row that `upsert` writes, in every column. */
function matcher(database: Database, table: string, keys: readonly string[], columns: readonly TableColumn[]) {
  const conditions = namesOf(keys, columns).map((name) => `${name} is ?`)
  const statement = database.prepare(`select 1 from ${table} where ${conditions.join(' and ')}`)
  return (keyValues: readonly bigint[], attributes: unknown) =>
    statement.all(...keyValues, ...valuesOf(columns, attributes)).length === 1
}

function namesOf(keys: readonly string[], columns: readonly TableColumn[]): string[] {
  return [...keys, ...columns.map(({ name }) => `"${name}"`)]
}

function valuesOf(columns: readonly TableColumn[], attributes: unknown): Value[] {
  return columns.map((column) => sqliteValue(column.kind, valueAt(column, attributes)))
}
