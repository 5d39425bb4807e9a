import type {
  ByLocation,
  Changes,
  Connector,
  DatasetName,
  KnownKeys,
  SourceCycle,
  SourceLocation,
  SourceRecord,
} from '../connector.ts'
import { noNotes, noZones } from '../connector.ts'
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
import type { TableName } from './changes/tables-read.ts'
import { checkOpenDental } from './check.ts'
import type { DatabaseSettings } from './database/database-settings.ts'
import { officePace } from './database/office-pace.ts'
import { adviceOnReplica } from './database/replica.ts'
import { assertQuiet, type Guard, openSession, type Session } from './database/session.ts'
import { changedLookupsMax, type DatasetReader, type Lookups, type Reading, type Since } from './dataset.ts'
import { locationMap } from './location-map.ts'
import { readLocations } from './locations.ts'
import { attributesNotProvided } from './not-provided.ts'
import { compareAge } from './records/age.ts'
import { appointments } from './records/appointments.ts'
import { feeSchedules } from './records/fee-schedules.ts'
import { insurancePlans } from './records/insurance-plans.ts'
import { ledgerTransactions } from './records/ledger-transactions.ts'
import { notToldBefore } from './records/mended-values.ts'
import { patientReferrals } from './records/patient-referrals.ts'
import { patients } from './records/patients.ts'
import { treatments } from './records/treatments.ts'
import type { ZoneSources } from './time/location-zone.ts'
import { dayIn } from './time/wall-time.ts'

/** In the contract's order: what others refer to comes first. */
const readers: ReadonlyMap<DatasetName, DatasetReader> = new Map([
  ['fee_schedules', feeSchedules],
  ['insurance_plans', insurancePlans],
  ['patients', patients],
  ['appointments', appointments],
  ['treatments', treatments],
  ['ledger_transactions', ledgerTransactions],
  ['patient_referrals', patientReferrals],
] as const)

/**
 * Reads an Open Dental database, never writes to it. `timeZone` is the zone that the settings give to every location;
 * `now` says which day it is, for what falls due on one.
 */
export function openDentalConnector(
  settings: DatabaseSettings,
  timeZone: string | null,
  now: () => Date = () => new Date(),
): Connector {
  const datasets = [...readers.keys()]
  const worthTelling = notToldBefore()
  let wasAdvised = false
  const connector: Connector = {
    name: 'open-dental',
    datasets,
    beginCycle: async (zones = noZones, notes = noNotes) => {
      const session = await openSession(settings, notes)
      try {
        const sources = { configured: timeZone, set: zones, serverZone: session.serverZone }
        const guard = await assertQuiet(session.database)
        const begun = cycle(session, guard, sources, now())
        const advice = adviceOnReplica(session.replica)
        const isNew = advice !== null && !wasAdvised
        wasAdvised = advice !== null
        return {
          ...begun,
          takeMended: () => worthTelling(session.database.mended.take()),
          advice: () => (isNew ? advice : null),
        }
      } catch (error) {
        await session.database.end()
        throw error
      }
    },
    check: (zones = noZones, notes = noNotes) =>
      checkOpenDental(settings, { configured: timeZone, set: zones }, notes, async () => ({
        cycle: await connector.beginCycle(zones, notes),
        datasets,
      })),
  }
  return connector
}

function cycle(session: Session, guard: Guard, zones: ZoneSources, now: Date): SourceCycle {
  const { database } = session
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

  async function readLocationsOnce(known?: ReadonlySet<string>): Promise<readonly SourceLocation[]> {
    locations ??= (await readLocations(session, guard, zones, known)).map(({ location }) => location)
    return locations
  }

  function tablesOf(dataset: DatasetName): readonly TableName[] {
    const places = locationMap(locations ?? [])
    return readerOf(dataset).reads({ session, locations: places })
  }

  function lookupOnce(name: string, read: () => Promise<Lookup>): Promise<Lookup> {
    const known = lookupsRead.get(name) ?? read()
    lookupsRead.set(name, known)
    return known
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

  async function* scan(dataset: DatasetName): AsyncGenerator<ByLocation<readonly SourceRecord[]>> {
    for (const table of tablesPresent(readerOf(dataset).tables, session.columns)) {
      let last: string | null = null
      yield* readChunks(dataset, async (keysMax) => {
        const keys = await nextKeys(database, table, last, keysMax)
        last = keys.at(-1) ?? last
        return keys.flatMap((key) => recordIds(table, key))
      })
    }
  }

  return {
    readLocations: readLocationsOnce,

    problemOf: async (dataset) => {
      await readLocationsOnce()
      const table = tablesOf(dataset).find((name) => database.unreadable.has(name))
      return table === undefined ? null : (database.unreadable.get(table) ?? null)
    },

    notProvided: (dataset) => attributesNotProvided(dataset, session.columns),

    compareAge: async (reached) => {
      const highest = await neverShrinking({ session, lookup: lookupOnce }, growingTables)
      const { databaseVersion } = guard
      return await compareAge(database, { nowUtc: session.nowUtc, databaseVersion, highest }, reached)
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
      for (const { table } of tablesPresent(readerOf(dataset).tables, session.columns)) {
        const [row] = await database.query(`select count(*) as n from ${table}`)
        rowsMax += Number(row?.n ?? 0)
      }
      return { rowsMax, chunks: scan(dataset) }
    },

    findChanges: async (dataset, text, known): Promise<Changes> => {
      const [reader, shared, before] = [readerOf(dataset), await reading(), parseCursor(text)]
      const now = await currentCursor(shared, guard, reader, await lookups(dataset))
      const cursor = JSON.stringify(now)
      const because = fullReadReason(before, now)
      if (before === null || because !== null) return { cursor, keys: 'all', because: because ?? 'first_read' }
      const { today, newestNote = null } = before
      const changed = (name: string) => changedMarks(before.lookups[name] ?? {}, now.lookups[name] ?? {})
      if (Object.keys(now.lookups).some((name) => changed(name).length > changedLookupsMax)) {
        return { cursor, keys: 'all', because: 'many_lookups_changed' }
      }
      const rows = (table: SourceTableName) => rowsOnce(table, since(before))
      const keys = await changedSince(reader, shared, { today, newestNote, changed, rows, compared }, known)
      return keys === null
        ? { cursor, keys: 'all', because: 'many_lookups_changed' }
        : { cursor, keys, namesGone: known !== undefined }
    },

    findSilentChanges: async (digests) => {
      const { yieldToOffice } = pace
      compared = await compareDigests(session, digests, { nowMs: now.getTime(), yieldToOffice })
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
      await assertQuiet(database, guard.databaseVersion)
    },

    end: () => database.end(),
  }
}

function readerOf(dataset: DatasetName): DatasetReader {
  const reader = readers.get(dataset)
  if (reader === undefined) throw new Error(`Open Dental has no dataset ${dataset}`)
  return reader
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
    locations: JSON.stringify(locations.ids.map((id) => [id, locations.zoneOf(id)])),
    today,
    lookups: Object.fromEntries(Object.entries(lookups).map(([name, lookup]) => [name, lookup.marks])),
  }
}
