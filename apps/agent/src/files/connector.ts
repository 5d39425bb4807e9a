import type { ByLocation, Connector, DatasetName, SourceCycle, SourceRecord, ZonesSet } from '../connector.ts'
import { noZones, SourceProblem } from '../connector.ts'
import { checkFiles } from './check.ts'
import type { Mapping } from './mapping/mapping.ts'
import { readMappingFile } from './mapping/mapping-file.ts'
import { recordReader } from './reading/records.ts'
import { noContent } from './reading/text.ts'
import { compareAge } from './watching/age.ts'
import { type FilesSettings, filesOf, isSame, look } from './watching/export-files.ts'
import {
  beginAnew,
  changedMeanwhile,
  faultsText,
  type Memory,
  type Prepared,
  placeOf,
  prepare,
  type Source,
} from './watching/prepare.ts'
import type { LocatedRecord } from './watching/record-watch.ts'
import { type OwnClock, settling } from './watching/settle.ts'
import { folderChanged } from './watching/watch.ts'

const recordsPerChunk = 1000

/** Reads exports of any practice management system from a folder; never writes there. The mapping is read anew at each pass. */
export function filesConnector(settings: FilesSettings, clock: OwnClock, nowMs: () => number = Date.now): Connector {
  const memory: Memory = { settling: settling(clock), validated: new Map() }
  let current: Mapping | null = null
  const sourceOf = (mapping: Mapping, mappingHash: string): Source => {
    let looking: Promise<void> | undefined
    const lookOnce = () =>
      memory.settling.look(
        mapping.datasets.flatMap((dataset) => filesOf(settings.folder, mapping, dataset)),
        mapping.settleSeconds * 1000,
      )
    const settle = () => {
      looking ??= lookOnce()
      return looking
    }
    return { folder: settings.folder, mapping, mappingHash, memory, settle }
  }
  return {
    name: 'files',
    get datasets() {
      return current?.datasets.map(({ dataset }) => dataset) ?? []
    },
    beginCycle: async (zones = noZones) => {
      const read = readMappingFile(settings.mapping, defaultZones(settings, zones))
      if ('faults' in read) {
        const todo = 'Correct the mapping, then run "bridgework-agent check".'
        throw new SourceProblem('mapping_invalid', read.faults.join(' '), todo)
      }
      current = read.mapping
      return {
        ...cycle(sourceOf(read.mapping, read.hash)),
        compareAge: async (reached) => compareAge(settings.folder, read.mapping, nowMs(), reached),
      }
    },
    check: (zones = noZones) => checkFiles(settings, defaultZones(settings, zones), sourceOf),
    untilChanged: (signal) => {
      const settleMs = (current?.settleSeconds ?? 10) * 1000
      const waitMs = memory.settling.waitMs(settleMs)
      const lookAgainMs = waitMs === null ? null : waitMs + 1000
      return folderChanged(settings.folder, { quietMs: settleMs + 1000, lookAgainMs }, signal)
    },
  }
}

/** The zone of a location that the mapping gives none: the agent's setting, then what people set at Bridgework. */
function defaultZones({ timeZone }: FilesSettings, zones: ZonesSet): (locationKey: string) => string | null {
  return (locationKey) => timeZone ?? zones.locations.get(locationKey) ?? zones.organization
}

function cycle(source: Source): SourceCycle {
  const { mapping, memory } = source
  const prepared = new Map<DatasetName, Prepared>()
  const mappingOf = (name: DatasetName) => required(mapping.datasets.find(({ dataset }) => dataset === name))
  const preparedOf = (name: DatasetName) => required(prepared.get(name))

  async function* records(name: DatasetName): AsyncGenerator<LocatedRecord> {
    const read = recordReader(mapping, mappingOf(name))
    const { files, cursor } = preparedOf(name)
    for (const each of files) {
      const { file } = each
      const content = noContent()
      for await (const record of read(file, content)) {
        // Lines with faults were reported when the file was prepared.
        if (!('rule' in record)) yield record
      }
      const hash = content.hash.digest('hex')
      if (hash === cursor.files[file.name]?.sha256) continue
      beginAnew(memory, mappingOf(name), each, hash)
      throw changedMeanwhile(file)
    }
  }

  async function* chunks(
    name: DatasetName,
    keys: ReadonlySet<string> | null,
    onRead: () => void = () => {},
  ): AsyncGenerator<ByLocation<SourceRecord[]>> {
    let chunk = new Map<string, SourceRecord[]>()
    let count = 0
    for await (const { record, locationKeys } of records(name)) {
      if (keys !== null && !keys.has(record.source_id)) continue
      onRead()
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

    notProvided: (name) => mappingOf(name).unmapped,

    problemOf: async (name, cursor) => {
      try {
        prepared.set(name, await prepare(source, mappingOf(name), cursor))
        return null
      } catch (error) {
        if (error instanceof SourceProblem) return error
        throw error
      }
    },

    adviceOn: (name) => {
      const { skipped, isUnchanged } = preparedOf(name)
      return skipped.length === 0 || isUnchanged
        ? null
        : `${skipped.length} lines were skipped, so no record is removed. ${faultsText(skipped)}`
    },

    skipped: (name) => {
      const { skipped, files } = preparedOf(name)
      const filePlace = placeOf(skipped, files)
      return filePlace && { filePlace }
    },

    findChanges: async (name) => {
      const { cursor, isUnchanged, isFirst } = preparedOf(name)
      const text = JSON.stringify(cursor)
      if (isUnchanged) return { cursor: text, keys: [], namesGone: true }
      return { cursor: text, keys: 'all', because: isFirst ? 'first_read' : 'files_changed' }
    },

    listKeys: async (name) => {
      const keys = new Map<string, string[]>(mapping.locations.map(({ source_id }) => [source_id, []]))
      for await (const { record, locationKeys } of records(name)) {
        for (const key of locationKeys) keys.get(key)?.push(record.source_id)
      }
      return keys
    },

    scan: async (name) => {
      let rowsRead = 0
      const onRead = () => {
        rowsRead += 1
      }
      return { rowsMax: preparedOf(name).records, rowsRead: () => rowsRead, chunks: chunks(name, null, onRead) }
    },

    async *readRecords(name, keys) {
      if (keys.length > 0) yield* chunks(name, new Set(keys))
    },

    isComplete: (name) => mappingOf(name).isComplete && preparedOf(name).skipped.length === 0,

    readAt: (name) => {
      // A list of codes may be years old and right.
      const exports = preparedOf(name).files.filter(({ file }) => !('codes' in file.of))
      return new Date(Math.min(...exports.map((each) => each.look.modifiedAtMs)))
    },

    confirm: async () => {
      for (const { files } of prepared.values()) {
        for (const { file, look: before } of files) {
          const now = look(file.path)
          if (now === null || !isSame(before, now)) throw changedMeanwhile(file)
        }
      }
    },

    end: async () => {},
  }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a dataset was read that was not asked for first')
  return value
}
