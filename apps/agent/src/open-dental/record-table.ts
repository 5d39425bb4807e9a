import { crc32 } from 'node:zlib'
import type { KnownKeys } from '../connector.ts'
import type { Database } from './connection.ts'
import { keyList } from './keys.ts'
import { type Lookup, readLookup } from './lookup.ts'

/** A table whose rows are records, or become them. Names and conditions are constants of ours, never input. */
export type RecordTable = {
  readonly table: string
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
export function plainTable(table: string, key: string, isRecord = '1'): RecordTable {
  return { table, key, prefix: '', suffixes: [''], isRecord }
}

const bucketSize = 10_000
const randomBuckets = 256

/** Keys beyond this were not counted up: offices that replicate draw them at random from the whole 64-bit range. */
const countedKeysMax = 1_000_000_000n

/**
 * Count, sum and xor of a table's keys per bucket: with the last cycle's they tell in which bucket a row vanished, which
 * leaves no other trace. Uses nothing but the index. `column` is another number of the row to go by (whose rows vanished).
 */
export async function readBuckets(
  database: Database,
  { table, key }: { table: string; key: string },
  options: { column?: string; sum?: string; size?: number } = {},
): Promise<Lookup> {
  const column = options.column ?? key
  const sum = options.sum ?? key
  const [highest] = await database.query(`select max(${column}) as id from ${table}`)
  const random = BigInt(highest?.id ?? '0') > countedKeysMax
  const [letter, bucket] = random
    ? ['r', `crc32(${column}) % ${randomBuckets}`]
    : ['c', `${column} div ${options.size ?? bucketSize}`]
  return await readLookup(
    database,
    `select concat('${letter}', bucket) as id, n, key_sum, key_xor
       from (select ${bucket} as bucket, count(*) as n, sum(${sum}) as key_sum, bit_xor(${sum}) as key_xor
               from ${table}
              group by ${bucket}) buckets`,
  )
}

/** The condition that a column lies in one of these buckets, or null for none. */
export function inBuckets(column: string, buckets: readonly string[], size = bucketSize): string | null {
  const counted = buckets.filter((bucket) => bucket.startsWith('c')).map((bucket) => BigInt(bucket.slice(1)))
  const random = buckets.filter((bucket) => bucket.startsWith('r')).map((bucket) => Number(bucket.slice(1)))
  const conditions = counted.map(
    (bucket) => `${column} between ${bucket * BigInt(size)} and ${(bucket + 1n) * BigInt(size) - 1n}`,
  )
  if (random.length > 0) conditions.push(`crc32(${column}) % ${randomBuckets} in (${random.join(',')})`)
  return conditions.length === 0 ? null : `(${conditions.join(' or ')})`
}

/** Records that are in these buckets of the table and unknown, or known and not there. */
export async function differences(
  database: Database,
  recordTable: RecordTable,
  buckets: readonly string[],
  known: KnownKeys,
): Promise<string[]> {
  const { table, key, isRecord } = recordTable
  const different: string[] = []
  for (const bucket of buckets) {
    const condition = inBuckets(key, [bucket])
    const rows = await database.query(`select ${key} as id from ${table} where ${condition} and ${isRecord}`)
    const present = new Set(rows.map((row) => row.id ?? ''))
    const remembered = new Set<string>()
    for (const id of knownIn(recordTable, bucket, known)) {
      const rowKey = keyOf(recordTable, id)
      if (rowKey === null) continue
      remembered.add(rowKey)
      if (!present.has(rowKey)) different.push(id)
    }
    for (const rowKey of present.difference(remembered)) different.push(...recordIds(recordTable, rowKey))
  }
  return different
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

/** The remembered keys are in the order of their characters, so a bucket is a range of them for each number of digits. */
function* knownIn(recordTable: RecordTable, bucket: string, known: KnownKeys): Generator<string> {
  const { prefix } = recordTable
  const number = bucket.slice(1)
  const isInBucket = bucket.startsWith('r')
    ? (key: string) => crc32(key) % randomBuckets === Number(number)
    : (key: string) => BigInt(key) / BigInt(bucketSize) === BigInt(number)
  const [first, last] =
    bucket.startsWith('r') || number === '0'
      ? [prefix, `${prefix}:`]
      : [`${prefix}${number}0000`, `${prefix}${number}9999~`]
  for (const id of known.between(first, last)) {
    const key = keyOf(recordTable, id)
    if (key !== null && isInBucket(key)) yield id
  }
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
