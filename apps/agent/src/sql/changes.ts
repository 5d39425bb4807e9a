import type { Changes, DatasetName, KnownKeys } from '../connector.ts'
import type { DatasetMapping, Mapping } from '../files/mapping/mapping.ts'
import type { Head } from '../files/reading/records.ts'
import { allHeads, compareKeys, headsOf, identityOf, keySum } from './keys.ts'
import { changedSince, growing, markOf, type SqlCursor } from './marks.ts'
import { type StatementTable, statementTable } from './rows.ts'
import type { SqlSession } from './session.ts'

/** When the keys of a dataset were last listed, and how long it took. */
export type KeyLists = Map<DatasetName, { atMs: number; tookMs: number }>

/** More records than this are read with all others. */
const changedMax = 50_000
/** Listing all keys takes at most this share of the time. */
const keyListShare = 1 / 20

type Reading = {
  readonly session: SqlSession
  readonly mapping: Mapping
  readonly mappingHash: string
  readonly keyLists: KeyLists
  readonly nowMs: () => number
}

/**
 * What changed since a cursor: records whose column grew, those that came without it, and those that are gone. Where a table has no such column,
 * everything is read: when its counter became another one, or when it is time.
 */
export async function findChanges(
  reading: Reading,
  dataset: DatasetMapping,
  { cursor, known }: { cursor: SqlCursor | null; known: KnownKeys },
): Promise<{ changes: Changes; gone: ReadonlySet<string> }> {
  const { session, mapping, mappingHash, nowMs } = reading
  const tables = dataset.tables.map(statementTable)
  const before = cursor?.mapping === mappingHash ? cursor : null
  const zones = [...new Set(mapping.locations.flatMap(({ time_zone }) => time_zone ?? []))]
  const marks: Record<string, string> = {}
  for (const table of tables) {
    const mark = await markOf(session, table, growing(table) === null ? undefined : before?.marks[table.pattern], zones)
    if (mark !== null) marks[table.pattern] = mark
  }
  const next: SqlCursor = { format: 'sql 1', mapping: mappingHash, readAtMs: nowMs(), marks, keys: null }
  const everything = (because: 'first_read' | 'source_changed') => ({
    changes: { cursor: JSON.stringify(next), keys: 'all', because } as const,
    gone: new Set<string>(),
  })
  if (before === null) return everything(cursor === null ? 'first_read' : 'source_changed')
  const sinceReadMs = Math.abs(nowMs() - before.readAtMs)
  const mustRead = tables.some(({ pattern, statement: { changed } }) =>
    changed === null
      ? sinceReadMs >= mapping.readEveryMinutes * 60_000
      : 'counter' in changed && before.marks[pattern] !== marks[pattern],
  )
  if (mustRead) return everything('source_changed')

  const keys = new Set<string>()
  for (const table of tables) {
    for await (const { sourceId } of changedHeads(reading, table, before)) {
      keys.add(sourceId)
      if (keys.size > changedMax) return everything('source_changed')
    }
  }
  const isWatched = tables.every((table) => growing(table) !== null)
  const list =
    dataset.isComplete && !tables.every(({ statement: { changed } }) => changed === null || 'counter' in changed)
      ? await listKeys(reading, dataset.dataset, tables, { before, known })
      : { keys: before.keys, moved: new Set<string>(), gone: new Set<string>() }
  const named = keys.union(list.moved).union(list.gone)
  if (named.size > changedMax + list.gone.size) return everything('source_changed')
  // What has no column was not looked at.
  const readAtMs = isWatched ? next.readAtMs : before.readAtMs
  const after = { ...next, marks: { ...before.marks, ...marks }, keys: list.keys, readAtMs }
  return { changes: { cursor: JSON.stringify(after), keys: [...named], namesGone: true }, gone: list.gone }
}

async function* changedHeads(
  { session, mapping }: Reading,
  table: StatementTable,
  { marks }: SqlCursor,
): AsyncGenerator<Head> {
  const changed = growing(table)
  if (changed === null) return
  const mark = marks[table.pattern]
  // An empty table has no highest value: whatever is there now came since.
  const where = mark === undefined ? {} : { where: changedSince(session, table, changed, mark) }
  yield* headsOf(session, mapping, table, { select: table.statement.select, ...where })
}

/** Which records came, or changed their location, without a change of their column, and which are gone. When no key came or went, nothing needs to be compared. */
async function listKeys(
  { session, mapping, keyLists, nowMs }: Reading,
  dataset: DatasetName,
  tables: readonly StatementTable[],
  { before, known }: { before: SqlCursor; known: KnownKeys },
): Promise<{ keys: string | null; moved: ReadonlySet<string>; gone: ReadonlySet<string> }> {
  const none = new Set<string>()
  const last = keyLists.get(dataset)
  if (last !== undefined && nowMs() - last.atMs < last.tookMs / keyListShare)
    return { keys: before.keys, moved: none, gone: none }
  let sum = keySum()
  const heads = async function* () {
    for (const table of tables) {
      for await (const head of allHeads(session, mapping, table)) {
        for (const locationKey of head.locationKeys) sum.add(identityOf(locationKey, head.sourceId))
        yield head
      }
    }
  }
  const startedAtMs = performance.now()
  for await (const _ of heads());
  keyLists.set(dataset, { atMs: nowMs(), tookMs: performance.now() - startedAtMs })
  if (sum.text() === before.keys) return { keys: before.keys, moved: none, gone: none }
  sum = keySum()
  const locations = mapping.locations.map(({ source_id }) => source_id)
  const { added, gone, left } = await compareKeys(known, heads(), locations)
  return { keys: sum.text(), moved: added.union(left), gone }
}
