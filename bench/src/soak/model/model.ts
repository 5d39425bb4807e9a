import { createHash } from 'node:crypto'
import { type DatasetName, datasetNames, getDataset, referencesTo, type SourceRecord } from '@bridgework/contract'
import { canonicalSource } from '@bridgework/contract/ingest'
import { Difference } from './difference.ts'

/** Rises with every step of a location that changes anything: which of two changes came first. */
export type Version = number

export type ModelRecord = {
  sourceId: string
  /** What the service keeps of it: without notes that no company may read, hidden where it was removed. */
  source: SourceRecord
  /** What vendors receive of it, with and without notes; a name in the place of each id. The two are one object where it has no notes. */
  noted: SymbolicAttributes
  plain: SymbolicAttributes
  insertedAt: Version
  changedAt: Version
  /** Null until an answer tells it. */
  id: string | null
  updatedAt: string | null
  /** The number of the last upload that had it. */
  namedBy: number
}

/** Attributes as the contract renders them, with `nameOf(…)` for each id. */
export type SymbolicAttributes = Record<string, unknown>

export type ModelDataset = {
  name: DatasetName
  records: Map<string, ModelRecord>
  byId: Map<string, ModelRecord>
  /** When each version changed something, as far as answers told it. */
  moments: Map<Version, string>
  /** The removal that waits for a person. */
  held: Held | null
  /** Source ids that a person decided to keep. */
  kept: Set<string>
  syncedAt: string | null
  isComplete: boolean
}

/** `listed`: what its list missed of so many `visible` records. `left`: what of that no upload has named since. */
export type Held = { listed: ReadonlySet<string>; left: Set<string>; visible: number }

export type ModelLocation = {
  id: string
  organizationId: string
  sourceId: string
  version: Version
  /** Versions of which it is not known which came first, or that have several stamps. */
  unordered: Set<Version>
  datasets: Record<DatasetName, ModelDataset>
}

export type Line = { sourceId: string; attributes: SourceRecord | null }

export type UploadCounts = { inserted: number; changed: number; unchanged: number; hidden: number }

export function createModelLocation(given: { id: string; organizationId: string; sourceId: string }): ModelLocation {
  const datasets = datasetNames.map((name): [DatasetName, ModelDataset] => [
    name,
    {
      name,
      records: new Map(),
      byId: new Map(),
      moments: new Map(),
      held: null,
      kept: new Set(),
      syncedAt: null,
      isComplete: false,
    },
  ])
  return {
    ...given,
    version: 0,
    unordered: new Set(),
    datasets: Object.fromEntries(datasets) as ModelLocation['datasets'],
  }
}

/** What an acknowledged upload does. `hasNotes`: whether any company may read notes of the dataset. */
export function applyUpload(
  location: ModelLocation,
  name: DatasetName,
  upload: { lines: readonly Line[]; number: number; hasNotes: boolean },
): UploadCounts {
  const dataset = location.datasets[name]
  const counts = { inserted: 0, changed: 0, unchanged: 0, hidden: 0 }
  const version = location.version + 1
  location.version = version
  const touched: ModelRecord[] = []
  for (const { sourceId, attributes } of upload.lines) {
    dataset.held?.left.delete(sourceId)
    dataset.kept.delete(sourceId)
    const record = dataset.records.get(sourceId)
    if (attributes === null) {
      if (!record || record.source.is_hidden === true) counts.unchanged += 1
      else {
        record.source = { ...record.source, is_hidden: true }
        touched.push(record)
        counts.hidden += 1
      }
      continue
    }
    // Its members in the contract's order, as the service keeps them.
    const sent: SourceRecord = JSON.parse(canonicalOf(name, attributes))
    const source = upload.hasNotes ? sent : withoutNotes(name, sent)
    if (!record) {
      const fresh = newRecord(sourceId, source, version, upload.number)
      dataset.records.set(sourceId, fresh)
      touched.push(fresh)
      counts.inserted += 1
      continue
    }
    record.namedBy = upload.number
    if (canonicalOf(name, record.source) === canonicalOf(name, source)) counts.unchanged += 1
    else {
      record.source = source
      touched.push(record)
      counts.changed += 1
    }
  }
  change(location, name, touched, version, counts.inserted > 0)
  return counts
}

/** Of `removed` records, those that are visible become hidden. Returns how many. */
export function hide(location: ModelLocation, name: DatasetName, removed: Iterable<string>): number {
  const dataset = location.datasets[name]
  const touched: ModelRecord[] = []
  location.version += 1
  for (const sourceId of removed) {
    const record = dataset.records.get(sourceId)
    if (!record || record.source.is_hidden === true) continue
    record.source = { ...record.source, is_hidden: true }
    touched.push(record)
  }
  change(location, name, touched, location.version, false)
  if (touched.length > turnMax) location.unordered.add(location.version)
  return touched.length
}

/** The notes that no company may read any more go, and nothing else of their records changes. */
export function removeNotes(location: ModelLocation, name: DatasetName): void {
  for (const record of location.datasets[name].records.values()) {
    record.source = withoutNotes(name, record.source)
    Object.assign(record, render(location, name, record))
  }
}

/** Renders what changed, and what shows some of it. */
function change(
  location: ModelLocation,
  name: DatasetName,
  touched: readonly ModelRecord[],
  version: Version,
  hasNew: boolean,
): void {
  for (const record of touched) {
    Object.assign(record, render(location, name, record))
    record.changedAt = version
    record.updatedAt = null
  }
  if (touched.length === 0) return
  for (const { from, embedded } of referencesTo(name)) {
    // A record shows the id of another, which only a new one brings, or more of it.
    if (!hasNew && embedded.length === 0) continue
    let rerendered = 0
    for (const record of location.datasets[from].records.values()) {
      const rendered = render(location, from, record)
      if (JSON.stringify(rendered.noted) === JSON.stringify(record.noted)) continue
      Object.assign(record, rendered)
      record.changedAt = version
      record.updatedAt = null
      rerendered += 1
    }
    if (rerendered > turnMax) location.unordered.add(version)
  }
}

/** What changes more records than this has several stamps. */
const turnMax = 5_000

function render(location: ModelLocation, name: DatasetName, { source }: Pick<ModelRecord, 'source'>) {
  const definition = getDataset(name)
  const find = (target: string, sourceId: string) => {
    const found = location.datasets[target as DatasetName].records.get(sourceId)
    return found ? { id: nameOf(target, sourceId), source: found.source } : null
  }
  const bare = withoutNotes(name, source)
  const plain = definition.render(bare, find)
  return { plain, noted: bare === source ? plain : definition.render(source, find) }
}

function newRecord(sourceId: string, source: SourceRecord, version: Version, namedBy: number): ModelRecord {
  const empty = {}
  return {
    sourceId,
    source,
    noted: empty,
    plain: empty,
    insertedAt: version,
    changedAt: version,
    id: null,
    updatedAt: null,
    namedBy,
  }
}

/** The very same object where there is no note. */
export function withoutNotes(name: DatasetName, source: SourceRecord): SourceRecord {
  const own = getDataset(name).notes.filter((note) => source[note] !== null)
  return own.length === 0 ? source : { ...source, ...Object.fromEntries(own.map((note) => [note, null])) }
}

/** What a record's hash in a complete list is made of. */
export function listHashOf(name: DatasetName, source: SourceRecord, digits: number): string {
  return createHash('sha256').update(canonicalOf(name, source)).digest('hex').slice(0, digits)
}

const canonicals = new Map(datasetNames.map((name) => [name, canonicalSource(getDataset(name))]))

export function canonicalOf(name: DatasetName, source: SourceRecord): string {
  const canonical = canonicals.get(name)
  if (!canonical) throw new Error(`no dataset ${name}`)
  return canonical(source)
}

/** Stands for the id of a record until that is known. No text of a record begins so. */
const mark = '\u0001'

function nameOf(dataset: string, sourceId: string): string {
  return `${mark}${dataset}:${sourceId}`
}

/** The record that a name stands for; null: the text is no name. */
export function namedIn(location: ModelLocation, text: string): { dataset: ModelDataset; record: ModelRecord } | null {
  if (!text.startsWith(mark)) return null
  const colon = text.indexOf(':')
  const dataset = location.datasets[text.slice(1, colon) as DatasetName]
  const record = dataset.records.get(text.slice(colon + 1))
  if (!record) throw new Error('a name of no record')
  return { dataset, record }
}

export type Id = { dataset: ModelDataset; record: ModelRecord; id: string }

/** An answer says that these are the records' ids. All of them are learned, or it throws and none is. */
export function learnIds(location: ModelLocation, ids: readonly Id[]): void {
  for (const { dataset, record, id } of ids) {
    const what = `${dataset.name} ${record.sourceId} has the id ${id}`
    if (record.id !== null && record.id !== id) throw new Difference(location.id, `${what}, and had ${record.id}`)
    const other = dataset.byId.get(id)
    if (other && other !== record) throw new Difference(location.id, `${what} of ${other.sourceId}`)
  }
  for (const { dataset, record, id } of ids) {
    record.id = id
    dataset.byId.set(id, record)
  }
}

/** The records that are visible. */
export function visibleOf(dataset: ModelDataset): ModelRecord[] {
  return [...dataset.records.values()].filter(({ source }) => source.is_hidden !== true)
}
