import { datasetNames } from '../../dataset-resource.ts'
import { directoryTables, indexedColumns, tableOf } from '../layout.ts'
import type { ColumnKind, Table, TableColumn, TableList } from '../table.ts'
import { tables } from '../tables.generated.ts'
import { type Dialect, isCurrent, views } from '../views.ts'

/** What a SQLite mirror has beside the tables of records: the records as they were sent, how far each dataset is, and the names of the layouts. */
export const recordTables = `
  create table if not exists raw_record (
    dataset text not null, location_id integer not null, id integer not null, attributes text not null,
    primary key (dataset, location_id, id)
  ) strict;
  create table if not exists sync_position (
    dataset text not null, location_id integer not null, position text not null, state text, synced_at text, checked_at text,
    primary key (dataset, location_id)
  ) strict;
  create table if not exists layout (name text not null) strict;`

/**
 * The tables of a SQLite mirror. Ids are unique over all locations, so `id` alone is the key that rows are joined by. Days and moments are
 * texts of ISO 8601, which sort and compare as what they mean. Money is a REAL, which compares, and sums to the cent (SQLite adds REALs with
 * compensation since 3.43); `<name>_cents` is the same as a whole number.
 */
export function createTables(): string {
  return [
    ...datasetNames.flatMap((name) => [
      `create table ${name} (location_id integer not null, id integer primary key, ${columnsOf(tableOf(name))}) strict;`,
      `create index ${name}_location on ${name} (location_id, id);`,
      ...tableOf(name).lists.map(createList),
    ]),
    ...directoryTables.map(
      (name) => `create table ${name} (id integer primary key, ${columnsOf(tables[name])}) strict;`,
    ),
    'create table grants (location_id integer not null, dataset text not null, primary key (location_id, dataset)) strict;',
  ].join('\n')
}

/** Adds a column that a newer contract has, and what goes with it. SQLite adds one in a statement. */
export function addColumn(table: string, column: TableColumn): string {
  return columnsIn(column)
    .map((each) => `alter table ${table} add column ${each};`)
    .join('\n')
}

/** The views of a SQLite mirror. */
export function createViews(): string {
  return [
    ...datasetNames.map((name) => `create view current_${name} as select * from ${name} where ${isCurrent};`),
    `create view sync_state as
     select location_id, dataset, state, synced_at,
            cast((julianday('now') - julianday(synced_at)) * 86400 as integer) as lag_seconds,
            position ->> '$.watermark' is not null as is_complete, checked_at, position ->> '$.watermark' as watermark
       from sync_position;`,
    ...views.map(({ name, sql }) => `create view ${name} as ${sql(sqliteDialect)};`),
  ].join('\n')
}

/** Indexes of what rows are joined and filtered by. Made when a sync has ended: a first walk is faster without. */
export function createIndexes(): string {
  const index = (table: string, column: TableColumn) =>
    `create index if not exists ${table}_${column.name} on ${table} (${column.name}) where ${column.name} is not null;`
  return datasetNames
    .flatMap((name) => [
      ...indexedColumns(tableOf(name)).map((column) => index(name, column)),
      ...tableOf(name).lists.flatMap((list) =>
        list.columns.filter(({ to }) => to !== undefined).map((column) => index(list.name, column)),
      ),
    ])
    .join('\n')
}

/** A value as SQLite keeps it. */
export function sqliteValue(kind: ColumnKind, value: unknown): string | number | bigint | null {
  if (value === null || value === undefined) return null
  if (kind === 'id') return BigInt(String(value))
  if (kind === 'boolean') return value === true ? 1 : 0
  if (kind === 'integer' || kind === 'number' || kind === 'decimal') return Number(value)
  return kind === 'json' ? JSON.stringify(value) : String(value)
}

function createList(list: TableList): string {
  return `create table ${list.name} (location_id integer not null, ${list.parent} integer not null, position integer not null,
    ${columnsOf(list)}, primary key (${list.parent}, position)) strict, without rowid;`
}

function columnsOf({ columns }: Pick<Table, 'columns'>): string {
  return columns.flatMap(columnsIn).join(', ')
}

function columnsIn({ name, kind }: TableColumn): string[] {
  const column = `"${name}" ${types[kind]}`
  if (kind !== 'decimal') return [column]
  return [column, `"${name}_cents" integer as (cast(round("${name}" * 100) as integer))`]
}

/** For the views. */
export const sqliteDialect: Dialect = {
  month: (date) => `date(${date}, 'start of month')`,
  day: (time) => `substr(${time}, 1, 10)`,
  today: `date('now', 'localtime')`,
  // August 31 and six months is the last of February, as in Postgres, and not March 3. SQLite's own word for it is younger than its readers.
  plusMonths: (date, months) =>
    `min(date(${date}, '${months} months'), date(${date}, 'start of month', '${months + 1} months', '-1 day'))`,
  daysSince: (date) => `cast(julianday(date('now', 'localtime')) - julianday(${date}) as integer)`,
  greatest: (left, right) => `max(${left}, ${right})`,
}

const types: Record<ColumnKind, string> = {
  text: 'text',
  id: 'integer',
  integer: 'integer',
  number: 'real',
  decimal: 'real',
  boolean: 'integer',
  date: 'text',
  instant: 'text',
  wall_time: 'text',
  json: 'text',
}
