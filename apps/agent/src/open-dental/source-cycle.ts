import type {
  ByLocation,
  Changes,
  DatasetName,
  KnownKeys,
  SourceCycle,
  SourceLocation,
  SourceRecord,
} from '../connector.ts'
import { SourceProblem } from '../connector.ts'
import {
  type ChangedRows,
  changedKeysMax,
  ManyRowsChanged,
  nothingCompared,
  readChangedRows,
} from './changes/changed-rows.ts'
import { type Cursor, fullReadReason, parseCursor, since } from './changes/cursor.ts'
import { compareDigests } from './changes/digests.ts'
import { changedMarks, type Lookup } from './changes/lookup.ts'
import { growingTables, neverShrinking } from './changes/never-shrinking.ts'
import { knownIn, nextKeys, recordIds, tablesPresent } from './changes/record-table.ts'
import type { SourceTableName } from './changes/source-tables.ts'
import type { Marks } from './changes/table-watch.ts'
import { columnsOfNewerVersions, notesTable, type TableName } from './changes/tables-read.ts'
import type { Database } from './database/connection.ts'
import { officePace } from './database/office-pace.ts'
import { assertQuiet, type Guard, type Session } from './database/session.ts'
import { changedLookupsMax, type DatasetReader, type Lookups, type Reading, type Since } from './dataset.ts'
import { readerOf } from './dataset-readers.ts'
import type { KeptSession, SessionKeeper } from './kept-session.ts'
import { locationMap } from './location-map.ts'
import { locationTables, readLocations } from './locations.ts'
import { attributesNotProvided } from './not-provided.ts'
import { compareAge } from './records/age.ts'
import type { ZoneSources } from './time/location-zone.ts'
import { dayIn } from './time/wall-time.ts'

/** A session that earlier cycles used, too. */
export type Watched = { readonly keeper: SessionKeeper; readonly kept: KeptSession }

/** One pass over an open session. `watched`: what earlier passes of the session found, and which tables were written to since. */
export function sourceCycle(
  opened: Session,
  guard: Guard,
  zones: ZoneSources,
  now: Date,
  watched: Watched | null,
): SourceCycle {
  const { keeper = null, kept = null } = watched ?? {}
  let isUnconfirmed = kept === null
  const database: Database = {
    ...opened.database,
    query: (sql, values) => {
      isUnconfirmed = true
      return opened.database.query(sql, values)
    },
  }
  const session = { ...opened, database }
  const pace = officePace(database)
  const lookupsRead = new Map<string, Promise<Lookup>>()
  const lookupsOf = new Map<DatasetName, Promise<Lookups>>()
  const rowsRead = new Map<string, Promise<ChangedRows>>()
  let compared = nothingCompared
  let locations: readonly SourceLocation[] | null = null

  async function reading(): Promise<Reading> {
    const places = locationMap(await readLocationsOnce())
    // The practice's day is headquarters', or the first clinic's.
    return { session, locations: places, today: dayIn(places.zoneOf(places.ids[0] ?? ''), now), lookup: lookupOnce }
  }

  /** False only where it is certain that nothing was written to any of the tables since what was read after these marks. */
  function isWritten(tables: readonly string[], before: Marks | undefined): boolean {
    if (keeper === null || kept === null || before === undefined) return true
    return tables.some((table) => keeper.watch.isWritten(table, before, kept.marks))
  }

  async function readLocationsOnce(known?: ReadonlySet<string>): Promise<readonly SourceLocation[]> {
    if (locations !== null) return locations
    const asked = JSON.stringify([
      guard,
      zones.configured,
      zones.serverZone,
      zones.set.organization,
      ...zones.set.locations,
    ])
    const before = kept?.locations ?? null
    locations =
      before !== null && before.zones === asked && !isWritten(locationTables, before.marks)
        ? before.value
        : (await readLocations(session, guard, zones, known)).map(({ location }) => location)
    if (kept !== null)
      kept.locations = {
        zones: asked,
        value: locations,
        marks: before?.value === locations ? before.marks : kept.marks,
      }
    return locations
  }

  /** Whether nothing of what the dataset is made of can differ from what was read at the cursor. */
  function isQuiet(
    dataset: DatasetName,
    marks: Marks | undefined,
    cursor: Cursor,
    { today, locations: places }: Reading,
  ): boolean {
    const tables = tablesOf(dataset)
    if (cursor.today !== today || cursor.locations !== placesText(places) || isWritten(tables, marks)) return false
    return !compared.differs(tables)
  }

  /** Asks for columns that the same version had at the cursor and that are not seen now, such as those of a table whose right was revoked. */
  async function askForLost(dataset: DatasetName, before: Cursor | null): Promise<void> {
    if (before === null || before.databaseVersion !== guard.databaseVersion) return
    for (const name of (before.newer ?? []).filter((each) => !session.columns.has(each))) {
      const [table = '', column] = name.split('.')
      const had = new Set([...session.columns, name])
      const tables: readonly string[] = tablesOf(dataset, had)
      if (!tables.includes(table) || database.unreadable.has(table)) continue
      const answer = database.query(`select ${column} from ${table} limit 1`)
      await answer.catch((error: unknown) => {
        if (!(error instanceof SourceProblem) || error.place === null) throw error
      })
    }
  }

  function tablesOf(dataset: DatasetName, columns = session.columns): readonly TableName[] {
    const places = locationMap(locations ?? [])
    return readerOf(dataset).reads({ session: { ...session, columns }, locations: places })
  }

  function lookupOnce(name: string, tables: readonly TableName[], read: () => Promise<Lookup>): Promise<Lookup> {
    const known = lookupsRead.get(name)
    if (known !== undefined) return known
    const before = kept?.lookups.get(name)
    const isCurrent = before !== undefined && !isWritten(tables, before.marks)
    const value = isCurrent ? before.value : read()
    lookupsRead.set(name, value)
    if (kept !== null && !isCurrent) {
      kept.lookups.set(name, { value, marks: kept.marks })
      value.catch(() => kept.lookups.delete(name))
    }
    return value
  }

  /** Once per cycle, whichever datasets ask for them. */
  function rowsOnce(table: SourceTableName, stamp: string): Promise<ChangedRows> {
    const name = `${table} ${stamp}`
    const rows = rowsRead.get(name) ?? readChangedRows(session, table, stamp, compared.differing(table))
    rowsRead.set(name, rows)
    return rows
  }

  /** Once per cycle: a record is then sent with exactly the names whose marks the cursor keeps. */
  async function lookups(dataset: DatasetName): Promise<Lookups> {
    const read = lookupsOf.get(dataset) ?? readerOf(dataset).readLookups(await reading())
    lookupsOf.set(dataset, read)
    return await read
  }

  /** Reads in batches that leave the server to the office, and puts them together to chunks. No more keys: the end. */
  async function* readChunks(
    dataset: DatasetName,
    nextBatch: (keysMax: number) => Promise<readonly string[]>,
  ): AsyncGenerator<ByLocation<readonly SourceRecord[]>> {
    const [reader, shared] = [readerOf(dataset), await reading()]
    const names = await lookups(dataset)
    for (let isFirst = true, isMore = true; isMore; ) {
      const chunk = new Map<string, SourceRecord[]>()
      let size = 0
      while (isMore && size < reader.keysPerChunk) {
        database.takeSlowestMs()
        const keys = await nextBatch(pace.keysOf(reader))
        isMore = keys.length > 0
        if (!isMore) break
        if (!isFirst) await pace.yieldToOffice()
        isFirst = false
        for (const [id, records] of await reader.readRecords(shared, names, keys)) {
          const own = chunk.get(id)
          if (own === undefined) chunk.set(id, [...records])
          else for (const record of records) own.push(record)
        }
        pace.adapt(reader)
        size += keys.length
      }
      if (size > 0) yield chunk
    }
  }

  async function* scan(
    dataset: DatasetName,
    onRead: (rows: number) => void = () => {},
  ): AsyncGenerator<ByLocation<readonly SourceRecord[]>> {
    for (const table of tablesPresent(readerOf(dataset).tables, session.columns)) {
      let last: string | null = null
      yield* readChunks(dataset, async (keysMax) => {
        const keys = await nextKeys(database, table, last, keysMax)
        last = keys.at(-1) ?? last
        onRead(keys.length)
        return keys.flatMap((key) => recordIds(table, key))
      })
    }
  }

  return {
    readLocations: readLocationsOnce,

    problemOf: async (dataset, cursor) => {
      await readLocationsOnce()
      const before = parseCursor(cursor)
      await askForLost(dataset, before)
      const unseen = [...columnsOfNewerVersions].filter((name) => database.unreadable.has(name.split('.')[0] ?? ''))
      const columns = new Set([...session.columns, ...(before?.newer ?? []), ...unseen])
      const table = tablesOf(dataset, columns).find((name) => database.unreadable.has(name))
      return table === undefined ? null : (database.unreadable.get(table) ?? null)
    },

    notProvided: (dataset) => attributesNotProvided(dataset, session.columns),

    compareAge: async (reached) => {
      if (
        reached !== null &&
        kept?.reached?.value === reached &&
        !isWritten([...growingTables, 'preference'], kept.reached.marks)
      ) {
        return { reached, wentBack: null }
      }
      const highest = await neverShrinking({ session, lookup: lookupOnce }, growingTables)
      const { databaseVersion } = guard
      const age = await compareAge(database, { nowUtc: session.nowUtc, databaseVersion, highest }, reached)
      if (kept !== null && age.wentBack === null) kept.reached = { value: age.reached, marks: kept.marks }
      return age
    },

    listKeys: async (dataset) => {
      const all = new Map((await reading()).locations.ids.map((id): [string, string[]] => [id, []]))
      for await (const chunk of scan(dataset)) {
        for (const [id, records] of chunk) all.get(id)?.push(...records.map((record) => record.source_id))
      }
      return all
    },

    scan: async (dataset) => {
      let rowsMax = 0
      let rowsRead = 0
      for (const { table, isRecord } of tablesPresent(readerOf(dataset).tables, session.columns)) {
        const [row] = await database.query(`select count(*) as n from ${table} where ${isRecord}`)
        rowsMax += Number(row?.n ?? 0)
      }
      const onRead = (rows: number) => {
        rowsRead += rows
      }
      return { rowsMax, rowsRead: () => rowsRead, chunks: scan(dataset, onRead) }
    },

    findChanges: async (dataset, text, known): Promise<Changes> => {
      const [reader, shared, before] = [readerOf(dataset), await reading(), parseCursor(text)]
      const last = kept?.cursors.get(dataset)
      // Only of the cursor that the last cycle gave is it known what was read before it.
      const marks = last?.cursor === text ? last?.marks : undefined
      if (text !== null && before !== null && isQuiet(dataset, marks, before, shared)) {
        return { cursor: text, keys: [], namesGone: known !== undefined }
      }
      const now = await currentCursor(shared, guard, reader, await lookups(dataset))
      const cursor = JSON.stringify(now)
      kept?.cursors.set(dataset, { cursor, marks: kept.marks })
      const because = fullReadReason(before, now)
      if (before === null || because !== null) return { cursor, keys: 'all', because: because ?? 'first_read' }
      const { today, newestNote = null } = before
      const changed = (name: string) => changedMarks(before.lookups[name] ?? {}, now.lookups[name] ?? {})
      if (Object.keys(now.lookups).some((name) => changed(name).length > changedLookupsMax)) {
        return { cursor, keys: 'all', because: 'many_lookups_changed' }
      }
      const rows = async (table: SourceTableName): Promise<ChangedRows> =>
        isWritten([table], marks) || compared.differing(table).length > 0
          ? await rowsOnce(table, since(before))
          : { rows: [], runs: [] }
      const keys = await changedSince(reader, shared, { today, newestNote, changed, rows, compared }, known)
      return keys === null
        ? { cursor, keys: 'all', because: 'many_lookups_changed' }
        : { cursor, keys, namesGone: known !== undefined }
    },

    findSilentChanges: async (digests) => {
      const { yieldToOffice } = pace
      const memory = watched === null ? null : { kept: watched.kept, watch: watched.keeper.watch }
      compared = await compareDigests(session, digests, { nowMs: now.getTime(), yieldToOffice, memory })
      return (missed) => compared.finish(new Set([...missed].flatMap((dataset) => tablesOf(dataset))))
    },

    pausedMs: pace.pausedMs,

    readRecords: (dataset, keys) => {
      let start = 0
      return readChunks(dataset, async (keysMax) => {
        const batch = keys.slice(start, start + keysMax)
        start += batch.length
        return batch
      })
    },

    confirm: async () => {
      // Since it was quiet, nothing was read.
      if (!isUnconfirmed) return
      await assertQuiet(database, guard.databaseVersion)
      isUnconfirmed = kept === null
    },

    end: async () => {
      if (keeper === null) await database.end()
      else keeper.endCycle()
    },
  }
}

function placesText({ ids, zoneOf }: Reading['locations']): string {
  return JSON.stringify(ids.map((id) => [id, zoneOf(id)]))
}

/** Keys of changed records and, when what is `known` is given, of those that are gone; null when they are too many to name. */
async function changedSince(
  reader: DatasetReader,
  reading: Reading,
  since: Since,
  known: KnownKeys | undefined,
): Promise<string[] | null> {
  try {
    const named = await reader.changedKeys(reading, since)
    if (named === null) return null
    const keys = new Set(named)
    for (const table of tablesPresent(reader.tables, reading.session.columns)) {
      for (const range of since.compared.differing(table.table)) {
        for (const key of known === undefined ? [] : knownIn(table, range, known)) keys.add(key)
      }
    }
    return keys.size > changedKeysMax ? null : [...keys]
  } catch (error) {
    if (error instanceof ManyRowsChanged) return null
    throw error
  }
}

async function currentCursor(reading: Reading, guard: Guard, reader: DatasetReader, lookups: Lookups): Promise<Cursor> {
  const { session, locations, today } = reading
  const newestNote = await reader.readNewestNote?.(reading)
  return {
    format: 4,
    nowUtc: session.nowUtc,
    databaseVersion: guard.databaseVersion,
    highest: await reader.readHighest(reading),
    ...(newestNote === undefined ? {} : { newestNote }),
    behindSeconds: session.replica.is === 'replica' ? session.replica.behindSeconds : 0,
    newer: [...columnsOfNewerVersions, `${notesTable}.Note`].filter((name) => session.columns.has(name)),
    locations: placesText(locations),
    today,
    lookups: Object.fromEntries(Object.entries(lookups).map(([name, lookup]) => [name, lookup.marks])),
  }
}
