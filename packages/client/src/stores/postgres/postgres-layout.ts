import { type DatasetName, datasetNames } from '../../dataset-resource.ts'
import { nameOfLayout, type StoreOptions, tableOf, tablesName, viewNames, whatToMake } from '../layout.ts'
import type { TableColumn } from '../table.ts'
import { isCurrent, views } from '../views.ts'
import {
  addColumn,
  createTable,
  postgresDialect,
  recordTables,
  type TableToCreate,
  tablesOf,
  tablesOfDirectory,
  writeItems,
  writeRows,
} from './postgres-tables.ts'

type Row = Record<string, unknown>
type Queryable = { query: (sql: string, values?: unknown[]) => Promise<{ rows: Row[] }> }

/**
 * Makes the tables in a schema, or brings those of another layout to this one: columns that a newer contract has are added, and every row is
 * written again from the records that are kept, or where only columns are added, those that have a value for one. Views are replaced in place. In the caller's transaction, so a mirror has one layout or the other; others wait.
 */
export async function prepareSchema(client: Queryable, schema: string, options: StoreOptions): Promise<void> {
  const name = quoted(schema)
  await client.query(`select pg_advisory_xact_lock(hashtext('bridgework/client'))`)
  await client.query(`create schema if not exists ${name}`)
  for (const sql of recordTables(name)) await client.query(sql)
  const { rows: layouts } = await client.query(`select name from ${name}.layout`)
  const { rows: objects } = await client.query(
    `select relname from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'v')`,
    [name],
  )
  const statements = viewStatements(name)
  const viewsName = nameOfLayout('views', statements.join())
  const toMake = whatToMake(
    viewsName,
    new Set(layouts.map((row) => String(row.name))),
    new Set(objects.map(({ relname }) => String(relname))),
  )
  if (toMake === 'nothing') return
  // Another sync, of a client that has the other layout, waits, and stops then: its position is not the one that it knows.
  await client.query(`lock table ${name}.sync_position in exclusive mode`)
  if (toMake === 'all' || toMake.columns.length > 0) {
    for (const table of [...datasetNames.flatMap(tablesOf), ...tablesOfDirectory()])
      await prepareTable(client, schema, table)
    await fill(client, name, options, toMake === 'all' ? null : toMake.columns)
  }
  if (!(await replaceViews(client, name, statements))) {
    const taken = await takeDownViews(client, schema)
    await makeViews(client, name, statements)
    await putBackViews(client, taken)
  }
  await client.query(`delete from ${name}.layout`)
  await client.query(`insert into ${name}.layout (name) values ($1), ($2)`, [tablesName, viewsName])
}

async function makeViews(client: Queryable, schema: string, statements: readonly string[]): Promise<void> {
  await client.query(`set local search_path to ${schema}`)
  for (const sql of statements) await client.query(sql)
  await client.query('reset search_path')
}

/**
 * Replaces the views, so that their rights and options and what others built upon them stay as they are. False: columns of a view were renamed, removed or
 * given another type, which needs new views, and nothing has changed.
 */
async function replaceViews(client: Queryable, schema: string, statements: readonly string[]): Promise<boolean> {
  const { rows } = await client.query(
    `select oid::regclass::text as name, reloptions from pg_class
      where relnamespace = to_regnamespace($1) and relkind = 'v' and relname = any ($2) and reloptions is not null`,
    [schema, viewNames],
  )
  await client.query('savepoint views')
  try {
    await makeViews(client, schema, statements)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === invalidTableDefinition)) throw error
    await client.query('rollback to savepoint views')
    return false
  }
  // A replaced view has the options of its new statement: none.
  for (const { name, reloptions } of rows) await setOptions(client, name, reloptions)
  return true
}

/** What Postgres says when a view's new columns do not begin with the old ones. */
const invalidTableDefinition = '42P16'

async function setOptions(client: Queryable, view: unknown, options: unknown): Promise<void> {
  if (Array.isArray(options) && options.length > 0) await client.query(`alter view ${view} set (${options.join(', ')})`)
}

/** Makes the views, with the schema as search path. */
export function viewStatements(schema: string): string[] {
  return [
    ...datasetNames.map(
      (dataset) =>
        `create or replace view ${schema}.current_${dataset} as select * from ${schema}.${dataset} where ${isCurrent}`,
    ),
    `create or replace view ${schema}.sync_state as
    select location_id, dataset, state, synced_at, extract(epoch from now() - synced_at)::bigint as lag_seconds,
           position->>'watermark' is not null as is_complete, checked_at, position->>'watermark' as watermark
      from ${schema}.sync_position`,
    ...views.flatMap(({ name, about, sql }) => [
      `create or replace view ${schema}.${name} as ${sql(postgresDialect)}`,
      `comment on view ${schema}.${name} is '${about}'`,
    ]),
  ]
}

/** A name of Postgres, whatever characters it has. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

async function prepareTable(client: Queryable, schema: string, table: TableToCreate): Promise<void> {
  const name = quoted(schema)
  const { rows } = await client.query(
    `select column_name from information_schema.columns where table_schema = $1 and table_name = $2`,
    [schema, table.name],
  )
  if (rows.length === 0) return void (await client.query(createTable(name, table)))
  const known = new Set(rows.map(({ column_name }) => String(column_name)))
  for (const column of table.columns) {
    if (!known.has(column.name)) await client.query(addColumn(name, table.name, column))
  }
}

/**
 * Writes every row from the records, in slices, so that people see it go on; or the rows of those that have a value for one of these columns: an
 * earlier client kept what it did not know.
 */
async function fill(
  client: Queryable,
  schema: string,
  { onEvent, signal }: StoreOptions,
  added: readonly { dataset: DatasetName; column: TableColumn }[] | null,
): Promise<void> {
  const { rows } = added ? { rows: [] } : await client.query(`select count(*) as total from ${schema}.raw_record`)
  const total = Number(rows[0]?.total ?? 0)
  let records = 0
  for (const dataset of datasetNames) {
    const columns = added?.filter((each) => each.dataset === dataset) ?? null
    if (columns?.length === 0) continue
    const lists = columns ? [] : tableOf(dataset).lists
    for (const { name } of lists) await client.query(`truncate ${schema}.${name}`)
    const values = columns?.map(({ column }) => `attributes #>> '{${column.from.join(',')}}' is not null`).join(' or ')
    const after = `from ${schema}.raw_record where dataset = '${dataset}' and (location_id, id) > ($1::bigint, $2::bigint)
      ${values ? `and (${values})` : ''}`
    const page = `select location_id, id, attributes ${after} and (location_id, id) <= ($3::bigint, $4::bigint)`
    for (let from: unknown[] = [0, 0]; ; ) {
      signal?.throwIfAborted()
      const { rows } = await client.query(
        `select location_id, id, count(*) over () as records
           from (select location_id, id ${after} order by location_id, id limit 5000) as next
          order by location_id desc, id desc
          limit 1`,
        from,
      )
      const [last] = rows
      if (!last) break
      const to = [last.location_id, last.id]
      await client.query(writeRows(schema, dataset, page), [...from, ...to])
      for (const list of lists) await client.query(writeItems(schema, list, page), [...from, ...to])
      from = to
      records += Number(last.records)
      if (!added) onEvent?.({ event: 'converting', records, total })
    }
  }
}

/** A view, its options, and the roles that may read it. Without a definition: one that we made, which a new one replaces. */
type TakenDown = { name: string; definition: string | null; options: unknown; readers: readonly string[] }

/** Drops our views, and those that others built upon them. Returns them in the order in which to put them back. */
async function takeDownViews(client: Queryable, schema: string): Promise<TakenDown[]> {
  const { rows: own } = await client.query(
    `select c.oid::regclass::text as name, c.reloptions, ${readers} from pg_class as c
      where relnamespace = to_regnamespace($1) and relkind = 'v' and relname = any ($2)`,
    [quoted(schema), viewNames],
  )
  if (own.length === 0) return []
  const { rows } = await client.query(
    `with recursive dependent (oid, depth) as (
       select oid::oid, 0 from unnest($1::regclass[]) as own (oid)
       union all
       select rule.ev_class, depth + 1
         from dependent
         join pg_depend on refclassid = 'pg_class'::regclass and refobjid = dependent.oid and classid = 'pg_rewrite'::regclass
         join pg_rewrite as rule on rule.oid = pg_depend.objid and rule.ev_class <> dependent.oid
     )
     select c.oid::regclass::text as name, pg_get_viewdef(c.oid) as definition, c.relkind::text as kind, c.reloptions, ${readers}
       from (select oid, max(depth) as depth from dependent group by oid) as found
       join pg_class as c using (oid)
      where c.oid <> all ($1::regclass[])
      order by depth`,
    [own.map(({ name }) => name)],
  )
  const other = rows.find(({ kind }) => kind !== 'v')
  if (other) {
    throw new Error(
      `${other.name} is built upon a view of the mirror that must be made anew. Drop it, start the mirror once, and create it again.`,
    )
  }
  for (const { name } of own) await client.query(`drop view if exists ${name} cascade`)
  return [...own, ...rows].map(({ name, definition, reloptions, readers }) => ({
    name: String(name),
    definition: definition === undefined ? null : String(definition),
    options: reloptions,
    readers: readers as string[],
  }))
}

async function putBackViews(client: Queryable, taken: readonly TakenDown[]): Promise<void> {
  for (const { name, definition, options, readers } of taken) {
    try {
      if (definition !== null) await client.query(`create view ${name} as ${definition}`)
    } catch (cause) {
      const text = `The view ${name} does not fit the tables and views of this version. Drop it, start the mirror once, and create it again.`
      throw new Error(text, { cause })
    }
    await setOptions(client, name, options)
    for (const reader of readers) await client.query(`grant select on ${name} to ${reader}`)
  }
}

/** The roles, quoted, that were granted to read `c`. */
const readers = `array(
  select distinct case when grantee = 0 then 'public' else grantee::regrole::text end
    from aclexplode(c.relacl) where privilege_type = 'SELECT' and grantee <> c.relowner) as readers`
