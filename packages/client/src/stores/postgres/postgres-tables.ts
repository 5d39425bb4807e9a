import type { DatasetName } from '../../dataset-resource.ts'
import { directoryTables, indexedColumns, tableOf } from '../layout.ts'
import type { ColumnKind, Table, TableColumn, TableList } from '../table.ts'
import { tables } from '../tables.generated.ts'
import type { Dialect } from '../views.ts'

/** A table to make: its name, the columns of its key, those of its rows, and what it is. */
export type TableToCreate = {
  name: string
  about: string
  keys: readonly (readonly [name: string, about: string])[]
  columns: readonly TableColumn[]
  primaryKey: string
  /** The columns that identify a row without its location, as rows are joined by them. */
  alone: string | null
}

/** What a mirror has beside the tables of records: the records as they were sent, how far each dataset is, grants, and the names of the layouts. */
export function recordTables(schema: string): string[] {
  return [
    `create table if not exists ${schema}.raw_record (
      dataset text not null, location_id bigint not null, id bigint not null, attributes json not null,
      primary key (dataset, location_id, id))`,
    `create table if not exists ${schema}.sync_position (
      dataset text not null, location_id bigint not null, position jsonb not null, state text, synced_at timestamptz, checked_at timestamptz,
      primary key (dataset, location_id))`,
    `create table if not exists ${schema}.grants (
      location_id bigint not null, dataset text not null, primary key (location_id, dataset))`,
    `create table if not exists ${schema}.layout (name text not null)`,
  ]
}

/** The tables of a dataset, and of its lists. */
export function tablesOf(dataset: DatasetName): TableToCreate[] {
  const { title, columns, lists } = tableOf(dataset)
  const own = [['location_id', 'Location'] as const, ['id', 'Id, unique over all locations'] as const]
  return [
    { name: dataset, about: title, keys: own, columns, primaryKey: 'location_id, id', alone: 'id' },
    ...lists.map(({ name, about, parent, columns: items }) => {
      const keys = [
        ['location_id', 'Location'] as const,
        [parent, 'Record that has the list'] as const,
        ['position', 'Place in the list, from 1'] as const,
      ]
      const primaryKey = `location_id, ${parent}, position`
      return { name, about, keys, columns: items, primaryKey, alone: `${parent}, position` }
    }),
  ]
}

/** The tables of the directory. */
export function tablesOfDirectory(): TableToCreate[] {
  return directoryTables.map((name) => {
    const keys = [['id', 'Id'] as const]
    return { name, about: tables[name].title, keys, columns: tables[name].columns, primaryKey: 'id', alone: null }
  })
}

/** Makes a table in the schema, whose name is quoted already, and says in comments what it and its columns hold. */
export function createTable(schema: string, { name, about, keys, columns, primaryKey }: TableToCreate): string {
  const all = [
    ...keys.map(([key]) => `"${key}" bigint not null`),
    ...columns.map(columnOf),
    `primary key (${primaryKey})`,
  ]
  const comments = [
    `comment on table ${schema}.${name} is ${literal(about)};`,
    ...keys.map(([key, text]) => `comment on column ${schema}.${name}."${key}" is ${literal(text)};`),
    ...columns.map((column) => commentOn(schema, name, column)),
  ]
  return `create table ${schema}.${name} (${all.join(', ')});\n${comments.join('\n')}`
}

/** Adds a column that a newer contract has. */
export function addColumn(schema: string, table: string, column: TableColumn): string {
  return `alter table ${schema}.${table} add column ${columnOf(column)}; ${commentOn(schema, table, column)}`
}

/** Indexes of what rows are joined and filtered by. Made when a sync has ended: a first walk is faster without. */
export function indexesOf(schema: string, dataset: DatasetName): { name: string; sql: string }[] {
  const { lists } = tableOf(dataset)
  const index = (table: string, column: TableColumn) => {
    const name = `${table}_${column.name}`
    return {
      name,
      sql: `create index ${name} on ${schema}.${table} ("${column.name}") where "${column.name}" is not null`,
    }
  }
  return [
    ...tablesOf(dataset).flatMap(({ name: table, alone }) => {
      if (alone === null) return []
      const name = `${table}_alone`
      return [{ name, sql: `create unique index ${name} on ${schema}.${table} (${alone})` }]
    }),
    ...indexedColumns(tableOf(dataset)).map((column) => index(dataset, column)),
    ...lists.flatMap(({ name, columns }) =>
      columns.filter(({ to }) => to !== undefined).map((column) => index(name, column)),
    ),
  ]
}

/** Writes a page: `$1` is the location, `$2` the ids, `$3` the attributes of all as one JSON list, which arrives and is split once. */
export function writePage(schema: string, dataset: DatasetName): string {
  const items = tableOf(dataset).lists.map(
    (list) => `${list.name} as (${writeItems(schema, list, 'select * from page')}),`,
  )
  return `with page as materialized (
      select $1::bigint as location_id, id, attributes
        from rows from (unnest($2::bigint[]), json_array_elements($3::json)) as sent (id, attributes)
    ), raw as (
      insert into ${schema}.raw_record (dataset, location_id, id, attributes)
      select '${dataset}', location_id, id, attributes from page
      on conflict (dataset, location_id, id) do update set attributes = excluded.attributes
    ), ${items.join('\n')} sent as (select * from page)
    ${writeRows(schema, dataset, 'select * from sent')}`
}

/** The statement that writes what a query has of records (`location_id`, `id`, `attributes` as json) into the dataset's table. */
export function writeRows(schema: string, dataset: DatasetName, query: string): string {
  const names = namesOf(['location_id', 'id'], tableOf(dataset))
  return `insert into ${schema}.${dataset} (${names.join(', ')}) ${selectRows(dataset, query)}
    on conflict (location_id, id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

/** The rows that records give, with the columns of the dataset's table. A record is taken apart once, not once for each column. */
export function selectRows(dataset: DatasetName, query: string): string {
  const { columns } = tableOf(dataset)
  const members = [...new Map(columns.map((column) => [column.from[0] ?? '', memberType(column)]))]
  const values = columns.map((column) => `${columnValue(column)} as "${column.name}"`)
  return `select page.location_id, page.id, ${values.join(', ')}
      from (${query}) as page,
           json_to_record(${withoutNul}) as record (${members.map(([name, type]) => `"${name}" ${type}`).join(', ')})`
}

/** The statement that writes the items of a list; those of the records before are deleted already. */
export function writeItems(schema: string, list: TableList, query: string): string {
  const names = namesOf(['location_id', list.parent, 'position'], list)
  return `insert into ${schema}.${list.name} (${names.join(', ')}) ${selectItems(list, query)}`
}

/** The items that records give, with the columns of the list's table. */
export function selectItems({ parent, from, columns }: TableList, query: string): string {
  const values = columns.map((column) => `${itemValue(column)} as "${column.name}"`)
  return `select page.location_id, page.id as ${parent}, item.position, ${values.join(', ')}
      from (${query}) as page,
           json_array_elements(case json_typeof(attributes->'${from}') when 'array' then ${withoutNul}->'${from}' else '[]' end)
             with ordinality as item (value, position)`
}

/** The columns of a table, those of its key first, as SQL names them. */
export function namesOf(keys: readonly string[], { columns }: Pick<Table, 'columns'>): string[] {
  return [...keys, ...columns.map(({ name }) => `"${name}"`)]
}

/** Writes rows of the directory: `$1` is a JSON list of `{ id, attributes }`. */
export function writeDirectory(schema: string, name: (typeof directoryTables)[number]): string {
  const { columns }: Table = tables[name]
  const values = columns.map((column) => cast(column, `attributes #>> '{${column.from.join(',')}}'`))
  return `insert into ${schema}.${name} (id, ${columns.map((column) => `"${column.name}"`).join(', ')})
    select id, ${values.join(', ')}
      from (select id, ${withoutNul} as attributes from json_to_recordset($1::json) as sent (id bigint, attributes json)) as page
    on conflict (id) do update set ${columns.map((column) => `"${column.name}" = excluded."${column.name}"`).join(', ')}`
}

/** A text of Postgres has no character 0, and of a JSON that has one nothing could be read. An even number of backslashes before it is text. */
const withoutNul = String.raw`case when strpos(attributes::text, '\u0000') = 0 then attributes
  else regexp_replace(attributes::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1', 'g')::json end`

/** How `json_to_record` gives a member: as the column's own type, where it needs nothing more. */
function memberType({ from, kind }: TableColumn): string {
  if (from.length > 1) return 'json'
  return isTime(kind) ? 'text' : types[kind]
}

function columnValue(column: TableColumn): string {
  const [member, ...path] = column.from
  if (path.length > 0) return cast(column, `record."${member}" #>> '{${path.join(',')}}'`)
  return isTime(column.kind) ? cast(column, `record."${member}"`) : `record."${member}"`
}

function itemValue(column: TableColumn): string {
  return cast(column, `item.value #>> '{${column.from.join(',')}}'`)
}

/** A text as the column's type. ISO 8601 has a year 0; Postgres calls it 1 BC. */
function cast({ kind }: TableColumn, text: string): string {
  if (!isTime(kind)) return `(${text})::${types[kind]}`
  return `(case when (${text}) like '0000-%' then '0001' || substr(${text}, 5) || ' BC' else ${text} end)::${types[kind]}`
}

function columnOf({ name, kind }: TableColumn): string {
  return `"${name}" ${types[kind]}`
}

function commentOn(schema: string, table: string, { name, about, to }: TableColumn): string {
  const text = to === undefined ? about : `${about}. See ${to}.id`
  return `comment on column ${schema}.${table}."${name}" is ${literal(text)};`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function isTime(kind: ColumnKind): boolean {
  return kind === 'instant' || kind === 'date' || kind === 'wall_time'
}

/** For the views. */
export const postgresDialect: Dialect = {
  month: (date) => `date_trunc('month', ${date})::date`,
  day: (time) => `(${time})::date`,
  today: 'current_date',
  plusMonths: (date, months) => `(${date} + interval '${months} months')::date`,
  daysSince: (date) => `(current_date - ${date})`,
  greatest: (left, right) => `greatest(${left}, ${right})`,
}

const types: Record<ColumnKind, string> = {
  text: 'text',
  id: 'bigint',
  integer: 'bigint',
  number: 'numeric',
  decimal: 'numeric(15,2)',
  boolean: 'boolean',
  date: 'date',
  instant: 'timestamptz',
  wall_time: 'timestamp',
  json: 'jsonb',
}
