import type { Database } from './connection.ts'

/** A key table: its name and its one bigint key. Both are constants of ours, never input. */
export type KeyedTable = { readonly table: string; readonly key: string }

const keysPerStatement = 50_000

/**
 * Every key of a table, in ascending order, read in chunks by the primary key: no statement runs long. As text, because
 * offices with random keys use the whole range up to 2^63-1.
 */
export async function listAllKeys(database: Database, { table, key }: KeyedTable): Promise<string[]> {
  const keys: string[] = []
  for (;;) {
    const last = keys.at(-1)
    const rows = await database.query(
      `select ${key} as id from ${table} ${last === undefined ? '' : `where ${key} > ${literal(last)}`}
        order by ${key} limit ${keysPerStatement}`,
    )
    for (const row of rows) if (row.id !== null && row.id !== undefined) keys.push(row.id)
    if (rows.length < keysPerStatement) return keys
  }
}

/**
 * Keys as an SQL list of numbers. Not as quoted parameters: a bigint compared with text is compared as double, which
 * confuses neighbours above 2^53 and leaves the index.
 */
export function keyList(keys: readonly string[]): string {
  return keys.map(literal).join(',')
}

function literal(key: string): string {
  if (!/^-?\d{1,20}$/.test(key)) throw new Error('A key of Open Dental is a whole number')
  return key
}

/** Slices of at most `size`, in order. */
export function* slices<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

export function keyAscending(left: string, right: string): number {
  if (left === right) return 0
  return BigInt(left) < BigInt(right) ? -1 : 1
}
