import { createHash } from 'node:crypto'
import { type DatasetName, datasetNames } from '../dataset-resource.ts'
import { datasets } from '../generated.ts'
import type { SyncRecord } from '../sync/store.ts'
import { makePrivate } from '../tokens/private-file.ts'
import type { Table, TableColumn } from './table.ts'
import { tables } from './tables.generated.ts'
import { views } from './views.ts'

export type StoreOptions = {
  onEvent?: (event: StoreEvent) => void
  /** Ends the conversion; the mirror keeps its earlier layout, and the next start converts it again. */
  signal?: AbortSignal
}

/**
 * While the store is opened: a mirror of an earlier layout is converted, once, and `records` of `total` have their rows; or other accounts could
 * read a file of the mirror, which had this mode and has 0600 now.
 */
export type StoreEvent =
  | { event: 'converting'; records: number; total: number }
  | { event: 'made_private'; file: string; mode: string }

/** Takes from other accounts what they may do with these files, where they exist. */
export async function makeFilesPrivate(files: readonly string[], { onEvent }: StoreOptions): Promise<void> {
  for (const file of files) {
    const mode = await makePrivate(file)
    if (mode !== null) onEvent?.({ event: 'made_private', file, mode })
  }
}

/** A record from what a table keeps of it. */
export function recordOf(dataset: DatasetName, id: string, attributes: string): SyncRecord {
  return { id, type: datasets[dataset].type, attributes: JSON.parse(attributes) }
}

/** A dataset's table. */
export function tableOf(dataset: DatasetName): Table {
  return tables[dataset]
}

/** The tables of the directory: what the datasets' `location_id` leads to. */
export const directoryTables = ['organizations', 'locations'] as const

/** Names a description of tables or views; a mirror keeps the names of those that it has. */
export function nameOfLayout(what: 'tables' | 'views', description: string): string {
  return `${what} ${createHash('sha256').update(description).digest('hex').slice(0, 16)}`
}

/** The columns that the contract got after this number. */
export function columnsAfter(number: number): { dataset: DatasetName; column: TableColumn }[] {
  return datasetNames.flatMap((dataset) =>
    tableOf(dataset).columns.flatMap((column) => ((column.since ?? 1) > number ? [{ dataset, column }] : [])),
  )
}

/** The name of the tables as they were with a number of the contract. What columns are said to hold is not part of it. */
export function tablesNameAt(number: number): string {
  const description = JSON.stringify(tables, (name, value) => {
    if (name === 'about' || name === 'title') return undefined
    return name === 'columns' ? value.filter((column: TableColumn) => (column.since ?? 1) <= number) : value
  })
  return nameOfLayout('tables', description)
}

const numbers = [...new Set(columnsAfter(0).map(({ column }) => column.since ?? 1))].sort((one, other) => other - one)

/**
 * A mirror whose tables were made by another layout is filled anew from the records that it keeps; one whose tables were those of an earlier number of the
 * contract gets the columns that came later.
 */
export const tablesName = tablesNameAt(Number.POSITIVE_INFINITY)

/** The columns by which rows are joined and filtered: references, days and moments, statuses. Each has an index. */
export function indexedColumns({ columns }: Table): TableColumn[] {
  return columns.filter(({ name, kind, to }) => to !== undefined || kind === 'date' || indexedNames.has(name))
}

const indexedNames = new Set(['status', 'transaction_type', 'starts_at', 'updated_at'])

/** Every view of a mirror: what is built upon others first. */
export const viewNames: readonly string[] = [
  ...views.map(({ name }) => name),
  'sync_state',
  ...datasetNames.map((name) => `current_${name}`),
]

/** Every table that a mirror has beside the records themselves. */
export const tableNames: readonly string[] = [
  ...datasetNames.flatMap((name) => [name, ...tableOf(name).lists.map((list) => list.name)]),
  ...directoryTables,
  'grants',
]

/**
 * What must be made of a mirror that has these layouts, tables and views: the views and `columns`, or all. What something else has dropped is made again.
 */
export function whatToMake(
  viewsName: string,
  layouts: ReadonlySet<string>,
  objects: ReadonlySet<string>,
): 'all' | 'nothing' | { columns: ReturnType<typeof columnsAfter> } {
  const has = (layout: string, names: readonly string[]) =>
    layouts.has(layout) && names.every((name) => objects.has(name))
  if (has(tablesName, tableNames)) return has(viewsName, viewNames) ? 'nothing' : { columns: [] }
  const earlier = numbers.find((number) => has(tablesNameAt(number), tableNames))
  return earlier === undefined ? 'all' : { columns: columnsAfter(earlier) }
}
