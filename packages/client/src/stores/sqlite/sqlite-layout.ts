import { setImmediate as turn } from 'node:timers/promises'
import { type DatasetName, datasetNames } from '../../dataset-resource.ts'
import { nameOfLayout, recordOf, type StoreOptions, tableNames, tablesName, viewNames, whatToMake } from '../layout.ts'
import type { TableColumn } from '../table.ts'
import { createRows, type Database } from './sqlite-rows.ts'
import { addColumn, createTables, createViews, recordTables } from './sqlite-tables.ts'

/** Makes the tables of a file, or makes those of another layout anew from the records; what came with a newer contract is added. In one transaction. An error leaves that to `close`. */
export async function prepareFile(database: Database, options: StoreOptions): Promise<void> {
  database.exec('begin immediate')
  const objects = new Map(
    database
      .prepare(`select name, type from sqlite_schema where type in ('table', 'view')`)
      .all()
      .map(({ name, type }) => [String(name), String(type)]),
  )
  database.exec(recordTables)
  const layouts = new Set(
    database
      .prepare('select name from layout')
      .all()
      .map(({ name }) => String(name)),
  )
  const viewsName = nameOfLayout('views', createViews())
  const toMake = whatToMake(viewsName, layouts, new Set(objects.keys()))
  if (toMake === 'nothing') return database.exec('commit')
  for (const name of [...viewNames, ...(toMake === 'all' ? tableNames : [])]) {
    const type = objects.get(name)
    if (type) database.exec(`drop ${type} ${name}`)
  }
  if (toMake === 'all') {
    database.exec(createTables())
    await fill(database, options)
  } else {
    for (const { dataset, column } of toMake.columns) database.exec(addColumn(dataset, column))
    await fill(database, options, toMake.columns)
  }
  database.exec(createViews())
  database.exec('delete from layout')
  const keep = database.prepare('insert into layout (name) values (?)')
  for (const name of [tablesName, viewsName]) keep.run(name)
  database.exec('commit')
}

/** Writes every row from the records, or the rows of those that have a value for one of these columns: an earlier client kept what it did not know. */
async function fill(
  database: Database,
  { onEvent, signal }: StoreOptions,
  added: readonly { dataset: DatasetName; column: TableColumn }[] | null = null,
): Promise<void> {
  const total = added ? 0 : Number(database.prepare('select count(*) as n from raw_record').all()[0]?.n)
  const tables = createRows(database)
  let records = 0
  for (const dataset of datasetNames) {
    const columns = added?.filter((each) => each.dataset === dataset) ?? null
    if (columns?.length === 0) continue
    const values = columns?.map(({ column }) => `attributes ->> '$.${column.from.join('.')}' is not null`).join(' or ')
    const range = database.prepare(
      `select cast(location_id as text) as location_id, cast(id as text) as id, attributes, rowid from raw_record
        where dataset = ? and (location_id, id) > (?, ?) ${values ? `and (${values})` : ''}
        order by raw_record.location_id, raw_record.id limit 1000`,
    )
    for (let after: [bigint, bigint] = [0n, 0n]; ; ) {
      const rows = range.all(dataset, ...after)
      const [last] = rows.slice(-1)
      if (!last) break
      for (const { location_id, id, attributes } of rows) {
        tables[dataset].write(BigInt(String(location_id)), recordOf(dataset, String(id), String(attributes)))
      }
      after = [BigInt(String(last.location_id)), BigInt(String(last.id))]
      records += rows.length
      if (!added) onEvent?.({ event: 'converting', records, total })
      // Ctrl-C is heard between.
      await turn()
      signal?.throwIfAborted()
    }
  }
}
