import type { Changes, Connector, DatasetName, SourceCycle, SourceLocation } from '../connector.ts'
import { checkOpenDental } from './check.ts'
import type { DatabaseSettings } from './connection.ts'
import { type Cursor, fullReadReason, parseCursor, since } from './cursor.ts'
import { changedLookupsMax, type DatasetReader, type Lookups } from './dataset.ts'
import { feeSchedules } from './fee-schedules.ts'
import { insurancePlans } from './insurance-plans.ts'
import { listAllKeys, slices } from './keys.ts'
import { readLocations } from './locations.ts'
import { changedMarks } from './lookup.ts'
import { assertQuiet, type Guard, openSession, type Session } from './session.ts'

const readers: Readonly<Record<DatasetName, DatasetReader>> = {
  fee_schedules: feeSchedules,
  insurance_plans: insurancePlans,
}

/** Reads an Open Dental database, never writes to it. `timeZone` is the zone that the settings give to every location. */
export function openDentalConnector(settings: DatabaseSettings, timeZone: string | null): Connector {
  return {
    name: 'open-dental',
    datasets: ['fee_schedules', 'insurance_plans'],
    beginCycle: async () => {
      const session = await openSession(settings)
      try {
        return cycle(session, await assertQuiet(session.database), timeZone)
      } catch (error) {
        await session.database.end()
        throw error
      }
    },
    check: () => checkOpenDental(settings),
  }
}

function cycle(session: Session, guard: Guard, timeZone: string | null): SourceCycle {
  const { database } = session
  const lookupsRead = new Map<DatasetName, Lookups>()
  let locations: readonly SourceLocation[] | null = null

  async function locationIds(): Promise<string[]> {
    locations ??= await readLocations(session, guard, timeZone)
    return locations.map((location) => location.source_id)
  }

  async function lookupsOf(dataset: DatasetName): Promise<Lookups> {
    const known = lookupsRead.get(dataset)
    if (known !== undefined) return known
    const lookups = await readers[dataset].readLookups(session)
    lookupsRead.set(dataset, lookups)
    return lookups
  }

  return {
    readLocations: async () => {
      locations = await readLocations(session, guard, timeZone)
      return locations
    },

    listKeys: async (dataset) => {
      const keys = await listAllKeys(database, readers[dataset].table)
      return new Map((await locationIds()).map((id) => [id, keys]))
    },

    findChanges: async (dataset, text): Promise<Changes> => {
      const lookups = await lookupsOf(dataset)
      const before = parseCursor(text)
      const now = await currentCursor(session, guard, readers[dataset], lookups)
      const cursor = JSON.stringify(now)
      const because = fullReadReason(before, now)
      if (before === null || because !== null) return { cursor, keys: 'all', because: because ?? 'first_read' }
      const changed = changedLookups(before, now)
      if (Object.values(changed).some((ids) => ids.length > changedLookupsMax)) {
        return { cursor, keys: 'all', because: 'many_lookups_changed' }
      }
      const keys = await readers[dataset].changedKeys(database, since(before), changed)
      return { cursor, keys: [...new Set(keys)] }
    },

    async *readRecords(dataset, keys) {
      const reader = readers[dataset]
      const [lookups, ids] = [await lookupsOf(dataset), await locationIds()]
      for (const slice of slices(keys, reader.keysPerChunk))
        yield await reader.readRecords(session, lookups, slice, ids)
    },

    confirm: async () => {
      await assertQuiet(database, guard.databaseVersion)
    },

    end: () => database.end(),
  }
}

async function currentCursor(session: Session, guard: Guard, reader: DatasetReader, lookups: Lookups): Promise<Cursor> {
  const { table, key } = reader.table
  const [highest] = await session.database.query(`select max(${key}) as id from ${table}`)
  return {
    format: 1,
    nowUtc: session.nowUtc,
    databaseVersion: guard.databaseVersion,
    highestStamp: await reader.highestStamp(session.database),
    highestKey: highest?.id ?? '0',
    lookups: Object.fromEntries(Object.entries(lookups).map(([name, lookup]) => [name, lookup.marks])),
  }
}

function changedLookups(before: Cursor, now: Cursor): Record<string, string[]> {
  const names = new Set([...Object.keys(before.lookups), ...Object.keys(now.lookups)])
  return Object.fromEntries(
    [...names].map((name) => [name, changedMarks(before.lookups[name] ?? {}, now.lookups[name] ?? {})]),
  )
}
