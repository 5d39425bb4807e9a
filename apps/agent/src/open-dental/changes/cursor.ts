import type { FullReadReason } from '../../connector.ts'
import type { Marks } from './lookup.ts'

/** What the connector remembers of a finished read of one dataset; kept by the agent's state as text. */
export type Cursor = {
  readonly format: 4
  /** The database server's clock when the read began. */
  readonly nowUtc: string
  /** How far the database, a replica, was behind then: what was stamped later had not arrived. */
  readonly behindSeconds: number
  readonly databaseVersion: string
  /** Highest keys and stamps of tables, by name. */
  readonly highest: Readonly<Record<string, string>>
  /** The newest note's key, where notes are read. */
  readonly newestNote?: string
  /** Columns that only some versions have and this database had, as `table.Column`: one that is missing later is not an older version's. */
  readonly newer?: readonly string[]
  /** Locations and their zones, as one text. */
  readonly locations: string
  /** The practice's day when the read began. */
  readonly today: string
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
  return typeof value === 'object' && value !== null && 'format' in value && value.format === 4
}

/** Why everything must be compared anew, or null when the stamps since the cursor can be relied on. */
export function fullReadReason(before: Cursor | null, now: Cursor): FullReadReason | null {
  if (before === null) return 'first_read'
  if (before.databaseVersion !== now.databaseVersion) return 'database_version_changed'
  if (now.nowUtc < before.nowUtc) return 'clock_went_back'
  if (before.locations !== now.locations) return 'locations_changed'
  // Of a table whose rows may vanish also true when only the newest did: such a table is small, and comparing it costs little.
  for (const [name, value] of Object.entries(before.highest)) {
    if (name in now.highest && isLower(now.highest[name] ?? '', value)) return 'restored_backup'
  }
  return null
}

function isLower(left: string, right: string): boolean {
  const areKeys = /^-?\d+$/.test(right) && /^-?\d*$/.test(left)
  return areKeys ? BigInt(left || '0') < BigInt(right) : left < right
}

/** The moment since which rows are read again, as the database writes it, UTC. */
export function since(cursor: Cursor): string {
  const moment = new Date(`${cursor.nowUtc.replace(' ', 'T')}Z`).getTime() - overlapMs - cursor.behindSeconds * 1000
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ')
}
