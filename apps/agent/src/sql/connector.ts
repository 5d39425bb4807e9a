import {
  type ByLocation,
  type Connector,
  type DatasetName,
  noZones,
  type SourceCycle,
  SourceProblem,
  type SourceRecord,
  type ZonesSet,
} from '../connector.ts'
import type { Mapping } from '../files/mapping/mapping.ts'
import { readMappingFile } from '../files/mapping/mapping-file.ts'
import { findChanges, type KeyLists } from './changes.ts'
import { checkSql } from './check.ts'
import { openSession } from './engines/engine.ts'
import { type Faults, faultsOf } from './faults.ts'
import { conditionOf } from './keys.ts'
import { parseCursor } from './marks.ts'
import { recordsOf } from './records.ts'
import type { statementTable } from './rows.ts'
import type { SqlSession } from './session.ts'
import type { SqlSettings } from './settings.ts'
import { openReader, requireQuiet, type SqlSource } from './source.ts'

/** What is kept between cycles of one process. */
type Memory = { readonly faults: Map<DatasetName, Faults>; readonly keyLists: KeyLists }

const recordsPerChunk = 1000
/** So many records are asked for by their keys; for more, reading everything once is faster. */
const namedMax = 5000
const namedPerStatement = 200

/** Reads any SQL database by the statements of a mapping, with an account that can only read. */
export function sqlConnector(source: SqlSource, nowMs: () => number = Date.now): Connector {
  const memory: Memory = { faults: new Map(), keyLists: new Map() }
  let current: Mapping | null = null
  const defaultZones = (zones: ZonesSet) => (locationKey: string) =>
    source.timeZone ?? zones.locations.get(locationKey) ?? zones.organization
  return {
    name: 'sql',
    get datasets() {
      return current?.datasets.map(({ dataset }) => dataset) ?? []
    },
    beginCycle: async (zones = noZones) => {
      const read = readMappingFile(source.mapping, defaultZones(zones), 'sql')
      if ('faults' in read) {
        const todo = 'Correct the mapping, then run "bridgework-agent check".'
        throw new SourceProblem('mapping_invalid', read.faults.join(' '), todo)
      }
      current = read.mapping
      const session = await openReader(source.database)
      try {
        await requireQuiet(session, read.mapping)
      } catch (error) {
        await session.end()
        throw error
      }
      return cycle({ ...source, session, mapping: read.mapping, mappingHash: read.hash, memory, nowMs })
    },
    check: (zones = noZones) => checkSql(source, defaultZones(zones)),
  }
}

type Reading = {
  readonly database: SqlSettings
  readonly session: SqlSession
  readonly mapping: Mapping
  readonly mappingHash: string
  readonly memory: Memory
  readonly nowMs: () => number
}

function cycle(reading: Reading): SourceCycle {
  const { session, mapping, memory } = reading
  const cursors = new Map<DatasetName, string>()
  /** What is not in the source any more, so that nobody looks for it. */
  const gone = new Map<DatasetName, ReadonlySet<string>>()
  const scanned = new Set<DatasetName>()
  const datasetOf = (name: DatasetName) => {
    const dataset = mapping.datasets.find((each) => each.dataset === name)
    if (dataset === undefined) throw new Error(`the mapping has no ${name}`)
    return dataset
  }
  const faultsFor = (name: DatasetName) => {
    const faults = memory.faults.get(name) ?? faultsOf()
    memory.faults.set(name, faults)
    return faults
  }

  /** `where`: which rows of each table; null: all. */
  async function* records(name: DatasetName, where: ((table: ReturnType<typeof statementTable>) => string) | null) {
    const dataset = datasetOf(name)
    const faults = faultsFor(name)
    for await (const each of recordsOf(session, mapping, dataset, where)) {
      if (!('rule' in each)) {
        faults.clear(each.record.source_id)
        yield each
        continue
      }
      const table = dataset.tables.find(({ pattern }) => pattern === each.file)
      if (table?.badLine === 'refuse_file') throw faults.refused(each)
      faults.add(each)
    }
  }

  async function* chunks(
    name: DatasetName,
    where: Parameters<typeof records>[1],
    { wanted = null, onRead }: { wanted?: Set<string> | null; onRead: (key: string) => void },
  ): AsyncGenerator<ByLocation<SourceRecord[]>> {
    let chunk = new Map<string, SourceRecord[]>()
    let count = 0
    for await (const { record, locationKeys } of records(name, where)) {
      if (wanted !== null && !wanted.has(record.source_id)) continue
      onRead(record.source_id)
      for (const key of locationKeys) {
        const list = chunk.get(key)
        if (list) list.push(record)
        else chunk.set(key, [record])
      }
      count += 1
      if (count % recordsPerChunk > 0) continue
      yield chunk
      chunk = new Map()
    }
    if (chunk.size > 0) yield chunk
  }

  return {
    readLocations: async () => mapping.locations.map(({ namesInFiles: _, ...location }) => location),

    notProvided: (name) => datasetOf(name).unmapped,

    findChanges: async (name, cursorText, known) => {
      const found = await findChanges({ ...reading, keyLists: memory.keyLists }, datasetOf(name), {
        cursor: parseCursor(cursorText),
        known: known ?? { between: () => [], each: () => [] },
      })
      cursors.set(name, found.changes.cursor)
      gone.set(name, found.gone)
      return found.changes
    },

    listKeys: async (name) => {
      const keys = new Map<string, string[]>(mapping.locations.map(({ source_id }) => [source_id, []]))
      for await (const { record, locationKeys } of records(name, null))
        for (const key of locationKeys) keys.get(key)?.push(record.source_id)
      return keys
    },

    scan: async (name) => {
      scanned.add(name)
      faultsFor(name).begin()
      let rowsRead = 0
      const onRead = () => {
        rowsRead += 1
      }
      return { rowsMax: null, rowsRead: () => rowsRead, chunks: chunks(name, null, { onRead }) }
    },

    async *readRecords(name, keys) {
      scanned.delete(name)
      const isGone = gone.get(name)
      const left = new Set(keys.filter((key) => isGone?.has(key) !== true))
      const faults = faultsFor(name)
      const onRead = (key: string) => left.delete(key)
      if (left.size <= namedMax) {
        const named = [...left]
        for (let at = 0; at < named.length; at += namedPerStatement) {
          const some = named.slice(at, at + namedPerStatement)
          const wanted = new Set(some)
          yield* chunks(name, (table) => conditionOf(session, table, some), { wanted, onRead })
        }
        for (const key of left) if (faults.has(key)) left.delete(key)
      }
      // A database may compare keys otherwise than as texts; what is still missing then is missing.
      if (left.size > 0) yield* chunks(name, null, { wanted: new Set(left), onRead })
    },

    adviceOn: (name) => memory.faults.get(name)?.takeAdvice() ?? null,

    skipped: (name) => ((memory.faults.get(name)?.count() ?? 0) > 0 ? { filePlace: null } : null),

    isComplete: (name) => datasetOf(name).isComplete && !(scanned.has(name) && faultsFor(name).count() > 0),

    readAt: (name) => new Date(parseCursor(cursors.get(name) ?? null)?.readAtMs ?? reading.nowMs()),

    confirm: async () => {
      if (mapping.quiet === null || session.hasSnapshot) return
      const other = await openSession(reading.database)
      try {
        await requireQuiet(other, mapping)
      } finally {
        await other.end()
      }
    },

    end: () => session.end(),
  }
}
