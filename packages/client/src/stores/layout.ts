import { createHash } from 'node:crypto'
import { type DatasetName, datasetNames } from '../dataset-resource.ts'
import { datasets } from '../generated.ts'
import type { SyncRecord } from '../sync/store.ts'
import type { Table, TableColumn } from './table.ts'
import { tables } from './tables.generated.ts'
import { views } from './views.ts'

export type StoreOptions = {
  onEvent?: (event: StoreEvent) => void
  /** Ends the conversion; the mirror keeps its earlier layout, and the next start converts it again. */
  signal?: AbortSignal
}

/** A mirror of an earlier layout is converted: `records` of `total` have their rows. Happens once, while the store is opened. */
export type StoreEvent = { event: 'converting'; records: number; total: number }

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

/** Names the tables below. A mirror whose tables were made by another layout is filled anew from the records that it keeps. */
export const layoutName = `bridgework ${createHash('sha256')
  .update(JSON.stringify([tables, views.map(({ sql }) => String(sql))]))
  .digest('hex')
  .slice(0, 16)}`

/** The columns by which rows are joined and filtered: references, days and moments, statuses. Each has an index. */
export function indexedColumns({ columns }: Table): TableColumn[] {
  return columns.filter(({ name, kind, to }) => to !== undefined || kind === 'date' || indexedNames.has(name))
}

const indexedNames = new Set(['status', 'transaction_type', 'starts_at', 'updated_at'])

/** Every view and table that a mirror has beside the records themselves: what is built upon others first. */
export const derivedNames: readonly string[] = [
  ...views.map(({ name }) => name),
  'sync_state',
  ...datasetNames.map((name) => `current_${name}`),
  ...datasetNames.flatMap((name) => [name, ...tableOf(name).lists.map((list) => list.name)]),
  ...directoryTables,
  'grants',
]
