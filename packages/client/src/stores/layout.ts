import type { DatasetName } from '../dataset-resource.ts'
import { type AttributeKind, datasets } from '../generated.ts'
import type { SyncRecord } from '../sync/store.ts'

/** The columns that a dataset's view has beside `location_id` and `id`: its attributes. */
export function columnsOf(dataset: DatasetName): [name: string, kind: AttributeKind][] {
  return Object.entries(datasets[dataset].attributes)
}

/** A record from what a table keeps of it. */
export function recordOf(dataset: DatasetName, id: string, attributes: string): SyncRecord {
  return { id, type: datasets[dataset].type, attributes: JSON.parse(attributes) }
}
