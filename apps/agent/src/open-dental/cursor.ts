import type { FullReadReason } from '../connector.ts'
import type { Marks } from './lookup.ts'

/** What the connector remembers of a finished read of one dataset; kept by the agent's state as text. */
export type Cursor = {
  readonly format: 1
  /** The database server's clock when the read began. */
  readonly nowUtc: string
  readonly databaseVersion: string
  readonly highestStamp: string
  readonly highestKey: string
  readonly lookups: Readonly<Record<string, Marks>>
}

/** How far a read reaches back before the previous one. All rows of an UPDATE are stamped with the moment it began, so this must exceed the longest statement. */
const overlapMs = 10 * 60 * 1000

export function parseCursor(text: string | null): Cursor | null {
  if (text === null) return null
  try {
    const cursor: unknown = JSON.parse(text)
    return isCursor(cursor) ? cursor : null
  } catch {
    return null
  }
}

function isCursor(value: unknown): value is Cursor {
  return typeof value === 'object' && value !== null && 'format' in value && value.format === 1
}

/** Why everything must be compared anew, or null when the stamps since the cursor can be relied on. */
export function fullReadReason(before: Cursor | null, now: Cursor): FullReadReason | null {
  if (before === null) return 'first_read'
  if (before.databaseVersion !== now.databaseVersion) return 'database_version_changed'
  if (now.nowUtc < before.nowUtc) return 'clock_went_back'
  // Also true when only the newest row was removed: then a full comparison costs little and finds just that.
  if (now.highestStamp < before.highestStamp || isLower(now.highestKey, before.highestKey)) return 'restored_backup'
  return null
}

function isLower(left: string, right: string): boolean {
  return BigInt(left || '0') < BigInt(right || '0')
}

/** The moment since which rows are read again, as the database writes it, UTC. */
export function since(cursor: Cursor): string {
  const moment = new Date(`${cursor.nowUtc.replace(' ', 'T')}Z`).getTime() - overlapMs
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ')
}
