import { type DatasetName, datasets, getDataset, type Lookup, type SourceRecord } from '@bridgework/contract'
import { hashSource, isSameContent, renderDocument } from './document.ts'
import {
  addRerenderWork,
  type EmbedRow,
  listEmbedding,
  type RenderedRow,
  readForRendering,
  replaceEmbeds,
  updateDocuments,
} from './embed-store.ts'
import type { Turn } from './turn.ts'
import {
  drawIds,
  findBySourceIds,
  insertRecords,
  type Origin,
  type RecordRow,
  type StoredRecord,
  updateHidden,
  updateRecords,
} from './write-store.ts'

/** One record whose content changes. `source` is canonical JSON. */
export type NewRecord = { sourceId: string; source: string }
export type ChangedRecord = NewRecord & { id: string; wasHidden: boolean; previousSource: string | null }

/** A change that alters more other records than this leaves them to the rerenderer, in slices of as many. */
export const rerenderSliceMax = 5000

/**
 * Writes new and changed records, rendered, under one stamp, and renders again what embeds them. `previousSource` of a changed record is
 * needed for datasets that others embed; null elsewhere.
 */
export async function writeRecords(
  turn: Turn,
  dataset: DatasetName,
  origin: Origin,
  inserts: readonly NewRecord[],
  updates: readonly ChangedRecord[],
): Promise<void> {
  if (inserts.length + updates.length === 0) return
  const { client, locationId } = turn
  const ids = await drawIds(client, dataset, inserts.length)
  const inserted = inserts.map((record, index) => ({ ...record, id: at(ids, index) }))
  const rows = await renderRows(turn, dataset, [...inserted, ...updates])
  const insertedRows = rows.slice(0, inserted.length)
  const updatedRows = rows.slice(inserted.length)
  await insertRecords(client, locationId, dataset, turn.stamp(dataset), origin, insertedRows)
  await updateRecords(client, locationId, dataset, turn.stamp(dataset), origin, updatedRows)
  await replaceEmbeds(
    client,
    locationId,
    dataset,
    updatedRows.map((row) => row.id),
    embedsOf(dataset, rows),
  )
  const state = turn.state(dataset)
  state.total += inserts.length
  state.visible += visibleIn(rows) - updates.filter((record) => !record.wasHidden).length
  const changedTargets = updates.filter((record) => altersEmbedding(dataset, record)).map((record) => record.sourceId)
  await renderEmbedding(turn, dataset, [...inserts.map((record) => record.sourceId), ...changedTargets])
}

/** Visible records, read with their source, that the practice management system no longer has: they stay, hidden. */
export async function hideRecords(turn: Turn, dataset: DatasetName, records: readonly StoredRecord[]): Promise<void> {
  if (records.length === 0) return
  const hidden = records.map((record) => ({
    id: record.id,
    sourceId: record.sourceId,
    source: JSON.stringify({ ...JSON.parse(record.source ?? '{}'), is_hidden: true }),
  }))
  const rows = await renderRows(turn, dataset, hidden)
  await updateHidden(turn.client, turn.locationId, dataset, turn.stamp(dataset), rows)
  turn.state(dataset).visible -= records.length
  await renderEmbedding(
    turn,
    dataset,
    hidden.map((record) => record.sourceId),
  )
}

/** Renders these records of a dataset again and writes those whose content differs. Returns how many did. */
export async function rerenderRecords(turn: Turn, dataset: DatasetName, ids: readonly string[]): Promise<number> {
  const stored = await readForRendering(turn.client, turn.locationId, dataset, ids)
  const definition = getDataset(dataset)
  const lookup = await lookUp(
    turn,
    dataset,
    stored.map((row) => JSON.parse(row.source)),
  )
  // The stamp is drawn only when something changed; until then any will do, because only the content is compared.
  const render = (row: RenderedRow, modifiedAt: number) =>
    renderDocument(
      definition,
      { id: row.id, sourceId: row.source_id, source: JSON.parse(row.source), modifiedAt },
      lookup,
    )
  const changed = stored.filter((row) => !isSameContent(row.document, render(row, 0)))
  if (changed.length === 0) return 0
  const stamp = turn.stamp(dataset)
  const rows = changed.map((row) => ({ id: row.id, document: render(row, stamp) }))
  await updateDocuments(turn.client, turn.locationId, dataset, stamp, rows)
  return changed.length
}

async function renderRows(
  turn: Turn,
  dataset: DatasetName,
  records: readonly { id: string; sourceId: string; source: string }[],
): Promise<RecordRow[]> {
  const definition = getDataset(dataset)
  const sources = records.map((record): SourceRecord => JSON.parse(record.source))
  const lookup = await lookUp(turn, dataset, sources)
  const modifiedAt = turn.stamp(dataset)
  return records.map((record, index) => {
    const source = at(sources, index)
    return {
      id: record.id,
      source_id: record.sourceId,
      is_hidden: source.is_hidden === true,
      source_hash: hashSource(record.source),
      source: record.source,
      document: renderDocument(definition, { ...record, source, modifiedAt }, lookup),
    }
  })
}

/** Reads, in one statement per embedded dataset, what these sources refer to. Only this location's records can be found. */
async function lookUp(turn: Turn, dataset: DatasetName, sources: readonly SourceRecord[]): Promise<Lookup> {
  const found = new Map<string, { id: string; source: SourceRecord }>()
  for (const embed of getDataset(dataset).embeds) {
    const wanted = new Set(sources.map((source) => source[embed.attribute]).filter((id) => typeof id === 'string'))
    if (wanted.size === 0) continue
    for (const record of await findBySourceIds(turn.client, turn.locationId, embed.dataset, [...wanted], true)) {
      found.set(`${embed.dataset} ${record.sourceId}`, { id: record.id, source: JSON.parse(record.source ?? '{}') })
    }
  }
  return (target, sourceId) => found.get(`${target} ${sourceId}`) ?? null
}

function embedsOf(dataset: DatasetName, rows: readonly RecordRow[]): EmbedRow[] {
  const { embeds } = getDataset(dataset)
  if (embeds.length === 0) return []
  return rows.flatMap((row) => {
    const source = JSON.parse(row.source)
    return embeds
      .filter((embed) => source[embed.attribute] !== null)
      .map((embed) => ({ target_dataset: embed.dataset, target_source_id: source[embed.attribute], record_id: row.id }))
  })
}

/** Whether what others embed of this record changed, and not only the rest. */
function altersEmbedding(dataset: DatasetName, record: ChangedRecord): boolean {
  const attributes = datasets
    .flatMap((other) => other.embeds.filter((embed) => embed.dataset === dataset))
    .flatMap((embed) => embed.changesWith)
  if (attributes.length === 0) return false
  const before = JSON.parse(record.previousSource ?? '{}')
  const after = JSON.parse(record.source)
  return attributes.some((attribute) => before[attribute] !== after[attribute])
}

/** Renders what embeds these records: at once when it is little, else as work for the rerenderer, committed with the change. */
async function renderEmbedding(turn: Turn, target: DatasetName, sourceIds: readonly string[]): Promise<void> {
  if (sourceIds.length === 0) return
  const targets = { dataset: target, sourceIds }
  for (const other of datasets.filter((candidate) => candidate.embeds.some((embed) => embed.dataset === target))) {
    const ids = await listEmbedding(turn.client, turn.locationId, targets, other.name, '0', rerenderSliceMax + 1)
    // Every name in `datasets` is a dataset's name: that is what the brand means.
    if (ids.length <= rerenderSliceMax) await rerenderRecords(turn, other.name as DatasetName, ids)
    else await addRerenderWork(turn.client, turn.locationId, targets, other.name)
  }
}

function visibleIn(rows: readonly RecordRow[]): number {
  return rows.filter((row) => !row.is_hidden).length
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index]
  if (value === undefined) throw new Error('fewer values than records')
  return value
}
