import type { DatasetName } from '../../dataset-resource.ts'
import { tableOf } from '../../stores/layout.ts'
import type { TableColumn } from '../../stores/table.ts'
import type { SyncRecord } from '../../sync/store.ts'

/** Where pulled records go, page by page. */
export type Sink = { end: () => Promise<void> } & (
  | { takes: 'records'; write: (locationId: string, records: readonly SyncRecord[]) => Promise<void> }
  // What is written as it came need not be parsed.
  | { takes: 'bytes'; write: (locationId: string, records: readonly Uint8Array[]) => Promise<void> }
)

/** What every file of records begins with, as the tables of a mirror do. */
export const keyColumns = ['location_id', 'id'] as const

/** The columns that follow: those of a mirror's table, of these attributes alone when there are any. */
export function columnsOf(dataset: DatasetName, attributes: readonly string[] | undefined): readonly TableColumn[] {
  const { columns } = tableOf(dataset)
  return attributes === undefined ? columns : columns.filter(({ from: [name = ''] }) => attributes.includes(name))
}
