import { createHash } from 'node:crypto'
import type { Database, Row } from '../database/connection.ts'

/** A small table, whole: its rows by key, and a mark per row that changes when anything we use of the row changes. */
export type Lookup = { readonly rows: ReadonlyMap<string, Row>; readonly marks: Marks }

export type Marks = Readonly<Record<string, string>>

/**
 * Reads a small table whole. Names that other records carry live in tables without a change stamp (employer), or in
 * rows that can vanish without one (carrier, feesched, fee): only comparing with the last cycle's marks finds that.
 * The statement gives the key as `id`.
 */
export async function readLookup(database: Database, sql: string): Promise<Lookup> {
  return lookupOf(await database.query(sql))
}

/** The rows as `readLookup` gives them. */
export function lookupOf(all: readonly Row[]): Lookup {
  const rows = new Map<string, Row>()
  const marks: Record<string, string> = {}
  for (const row of all) {
    const id = row.id ?? ''
    rows.set(id, row)
    marks[id] = createHash('sha256').update(JSON.stringify(row)).digest('base64').slice(0, 12)
  }
  return { rows, marks }
}

/** Keys that are new, gone or other than before. */
export function changedMarks(before: Marks, now: Marks): string[] {
  const changed = Object.keys(now).filter((id) => now[id] !== before[id])
  for (const id of Object.keys(before)) if (now[id] === undefined) changed.push(id)
  return changed
}
