import type { AttributeKind } from '../../generated.ts'
import type { SyncRecord } from '../../sync/store.ts'

/** Where pulled records go, page by page. */
export type Sink = { end: () => Promise<void> } & (
  | { takes: 'records'; write: (locationId: string, records: readonly SyncRecord[]) => Promise<void> }
  // What is written as it came need not be parsed.
  | { takes: 'bytes'; write: (locationId: string, records: readonly Uint8Array[]) => Promise<void> }
)

/** A column of a table: an attribute and how its values are written. */
export type Column = readonly [name: string, kind: AttributeKind]
