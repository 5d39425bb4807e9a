import type { KnownKeys } from '../../connector.ts'
import type { Database } from '../database/connection.ts'
import { keyList } from './keys.ts'
import { isIn, type KeyRange } from './runs.ts'
import type { TableName } from './tables-read.ts'

/** A table whose rows are records, or become them. Names and conditions are constants of this program, never input. */
export type RecordTable = {
  readonly table: TableName
  /** Its one bigint key. */
  readonly key: string
  /** What stands before the row's key in a record's; '' when they are the same. */
  readonly prefix: string
  /** What stands after it, for each record that a row can give. */
  readonly suffixes: readonly string[]
  /** Rows that can be records now; '1' for all. */
  readonly isRecord: string
  /** A column, as `table.Column`, without which this database has no such table. */
  readonly onlyWith?: string
}

/** Those of the tables that this database has. */
export function tablesPresent(tables: readonly RecordTable[], columns: ReadonlySet<string>): RecordTable[] {
  return tables.filter(({ onlyWith }) => onlyWith === undefined || columns.has(onlyWith))
}

/** A dataset's only table, each of whose rows is a record under the row's own key. */
export function plainTable(table: TableName, key: string, isRecord = '1'): RecordTable {
  return { table, key, prefix: '', suffixes: [''], isRecord }
}

/** The keys of the records that a row can give. */
export function recordIds({ prefix, suffixes }: RecordTable, key: string): string[] {
  return suffixes.map((suffix) => `${prefix}${key}${suffix}`)
}

/** The row's key in a record's, or null when the record is another table's. */
export function keyOf({ prefix }: RecordTable, id: string): string | null {
  if (!id.startsWith(prefix)) return null
  const key = /^-?\d+/.exec(id.slice(prefix.length))?.[0]
  return key === undefined || (prefix === '' && key !== id) ? null : key
}

/**
 * Of the remembered keys those in a range. They are in the order of their characters, so a range of numbers is a range of them for each
 * number of digits.
 */
export function knownIn(recordTable: RecordTable, [first, last]: KeyRange, known: KnownKeys): string[] {
  const { prefix } = recordTable
  const ids = new Set<string>()
  for (let digits = String(first).length; digits <= String(last).length; digits++) {
    const [lowest, highest] = [10n ** BigInt(digits - 1), 10n ** BigInt(digits) - 1n]
    const from = first > lowest ? first : digits === 1 ? 0n : lowest
    for (const id of known.between(`${prefix}${from}`, `${prefix}${last < highest ? last : highest}~`)) {
      const key = keyOf(recordTable, id)
      if (key !== null && isIn([[first, last]], key)) ids.add(id)
    }
  }
  return [...ids]
}

/** Keys of the table above `after`, in order, at most `limit`: one step of a read of everything. */
export async function nextKeys(
  database: Database,
  { table, key, isRecord }: RecordTable,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await database.query(
    `select ${key} as id from ${table} where ${after === null ? '' : `${key} > ${keyList([after])} and `}${isRecord}
      order by ${key} limit ${limit}`,
  )
  return rows.map((row) => row.id ?? '')
}
