import type { SyncRecord } from '../sync/store.ts'
import type { TableColumn } from './table.ts'

/** What a column holds of a record's attributes, as JSON has it; undefined where they lack it. */
export function valueAt({ from }: TableColumn, attributes: unknown): unknown {
  let value = attributes
  for (const member of from) {
    if (typeof value !== 'object' || value === null) return undefined
    // An object, of which one member is asked for.
    value = (value as Record<string, unknown>)[member]
  }
  return value
}

/** The items of a record's list; none where it has no list. */
export function itemsOf(from: string, { attributes }: Pick<SyncRecord, 'attributes'>): readonly unknown[] {
  const list = attributes[from]
  return Array.isArray(list) ? list : []
}
