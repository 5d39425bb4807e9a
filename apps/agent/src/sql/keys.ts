import { hash } from 'node:crypto'
import type { KnownKeys } from '../connector.ts'
import type { Mapping } from '../files/mapping/mapping.ts'
import type { KeyPart } from '../files/reading/joined-key.ts'
import { keySet } from '../files/reading/key-set.ts'
import { type Head, headReader } from '../files/reading/records.ts'
import { asFile, rowsOf, type StatementTable } from './rows.ts'
import type { Query, SqlSession } from './session.ts'

/** The columns that say which record a row belongs to, and where. */
export function keyColumns({ key, locationsFrom }: StatementTable): string[] {
  const location = typeof locationsFrom === 'object' ? [locationsFrom.column] : []
  return [...new Set([...key.filter((part) => typeof part === 'string'), ...location])]
}

/** The keys of a query's rows, with their locations. A row whose key or location is wrong is left out: the reading of its record says so. */
export async function* headsOf(
  session: SqlSession,
  mapping: Mapping,
  table: StatementTable,
  query: Query,
): AsyncGenerator<Head> {
  const columns = keyColumns(table)
  const read = headReader(mapping, table)
  for await (const row of rowsOf(session, table, columns, { ...query, columns })) {
    const head = read(row, asFile(table))
    if (head !== 'continues' && !('rule' in head)) yield head
  }
}

/** Every key of a table, in no order. */
export function allHeads(session: SqlSession, mapping: Mapping, table: StatementTable): AsyncGenerator<Head> {
  return headsOf(session, mapping, table, { select: table.statement.keys ?? table.statement.select })
}

/** A number of keys, and a sum of their hashes: the same for the same keys in any order. */
export function keySum() {
  const sums = new Uint32Array(4)
  let count = 0
  return {
    add: (identity: string) => {
      const digest = hash('sha256', identity, 'buffer')
      for (let word = 0; word < sums.length; word++)
        sums[word] = ((sums[word] ?? 0) + digest.readUInt32LE(word * 4)) >>> 0
      count += 1
    },
    text: () => `${count}-${Buffer.from(sums.buffer).toString('hex')}`,
  }
}

/**
 * Compares the keys of the source with those that were sent: which were never sent, which are gone from everywhere, and which from some location
 * alone. Takes some 20 bytes for each.
 */
export async function compareKeys(
  known: KnownKeys,
  heads: AsyncIterable<Head>,
  locations: readonly string[],
): Promise<{ added: Set<string>; gone: Set<string>; left: Set<string> }> {
  const sent = keySet()
  for (const { locationKey, key } of known.each()) sent.add(identityOf(locationKey, key))
  const [added, gone, left] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for await (const { sourceId, locationKeys } of heads)
    for (const locationKey of locationKeys) if (!sent.mark(identityOf(locationKey, sourceId))) added.add(sourceId)
  const isThere = (key: string) =>
    added.has(key) || locations.some((location) => sent.isMarked(identityOf(location, key)))
  for (const { locationKey, key } of known.each()) {
    if (sent.isMarked(identityOf(locationKey, key))) continue
    if (isThere(key)) left.add(key)
    else gone.add(key)
  }
  return { added, gone, left }
}

export function identityOf(locationKey: string, key: string): string {
  return `${locationKey}\n${key}`
}

/** The rows of some records, as a condition; keys that cannot be of this table have none. */
export function conditionOf(
  session: SqlSession,
  { key: parts, statement }: StatementTable,
  keys: readonly string[],
): string {
  const conditions = keys.flatMap((key) => {
    const texts = parts.length === 1 ? [key] : splitKey(key)
    const isOther = texts.length !== parts.length || parts.some((part, index) => isOtherConstant(part, texts[index]))
    if (isOther) return []
    const equal = parts.flatMap((part, index) => {
      if (typeof part !== 'string') return []
      const of = { select: statement.select, column: part }
      return [`${session.quoted(part)} = ${session.literal(texts[index] ?? '', of)}`]
    })
    return [`(${equal.join(' and ')})`]
  })
  return conditions.length === 0 ? '1 = 0' : conditions.join(' or ')
}

function isOtherConstant(part: KeyPart, text: string | undefined): boolean {
  return typeof part !== 'string' && part.constant !== text
}

/** The parts that `joinedKey` joined; none of them is empty. */
function splitKey(key: string): string[] {
  return (key.match(/(?:~.|[^~-])+/g) ?? []).map((part) => part.replaceAll(/~(.)/g, '$1'))
}
