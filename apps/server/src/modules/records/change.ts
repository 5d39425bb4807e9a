import { type DatasetName, referencesFrom, referencesTo } from '@bridgework/contract'
import type { Stamp } from '../datasets/stamp.ts'
import { findBuckets } from './count-store.ts'
import { isSameContent, restamp } from './document.ts'
import {
  addRerenderWork,
  deleteReferences,
  listReferring,
  readForRendering,
  replaceReferences,
  updateDocuments,
} from './reference-store.ts'
import { renderRecords } from './rendering.ts'
import type { Turn } from './turn.ts'
import {
  drawIds,
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
 * Writes new and changed records, rendered, under one stamp, and renders again what refers to them. `previousSource` of a changed record is
 * needed for datasets of which others show more than the id; null elsewhere.
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
  const stamp = turn.stamp(dataset)
  const ids = await drawIds(client, dataset, inserts.length)
  const inserted = inserts.map((record, index) => ({ ...record, id: at(ids, index) }))
  const { rows, references } = await renderRecords(turn, dataset, [...inserted, ...updates], stamp)
  const updatedRows = rows.slice(inserted.length)
  const updatedIds = updatedRows.map((row) => row.id)
  const left = await findBuckets(client, locationId, dataset, updatedIds)
  await insertRecords(client, locationId, dataset, stamp, origin, rows.slice(0, inserted.length))
  await updateRecords(client, locationId, dataset, stamp, origin, updatedRows)
  await replaceReferences(client, locationId, dataset, updatedIds, references)
  const state = turn.state(dataset)
  state.total += inserts.length
  state.tally.subtract(left)
  for (const row of rows) state.tally.add(row, stamp)
  state.visible += visibleIn(rows) - updates.filter((record) => !record.wasHidden).length
  await renderReferring(turn, dataset, {
    inserted: inserts.map((record) => record.sourceId),
    changed: updates.filter((record) => altersReferring(dataset, record)).map((record) => record.sourceId),
  })
}

/** Visible records, read with their source, that the practice management system no longer has: they stay, hidden. */
export async function hideRecords(turn: Turn, dataset: DatasetName, records: readonly StoredRecord[]): Promise<void> {
  if (records.length === 0) return
  const stamp = turn.stamp(dataset)
  const hidden = records.map((record) => ({
    id: record.id,
    sourceId: record.sourceId,
    source: JSON.stringify({ ...JSON.parse(record.source ?? '{}'), is_hidden: true }),
  }))
  const { rows } = await renderRecords(turn, dataset, hidden, stamp)
  await restampCounts(turn, dataset, rows, stamp)
  await updateHidden(turn.client, turn.locationId, dataset, stamp, rows)
  turn.state(dataset).visible -= records.length
  await renderReferring(turn, dataset, { inserted: [], changed: hidden.map((record) => record.sourceId) })
}

/** Renders these records of a dataset again and writes those whose content differs. Returns how many did. */
export async function rerenderRecords(turn: Turn, dataset: DatasetName, ids: readonly string[]): Promise<number> {
  const stored = await readForRendering(turn.client, turn.locationId, dataset, ids)
  const before = new Map(stored.map((row) => [row.id, row.document]))
  const records = stored.map((row) => ({ id: row.id, sourceId: row.source_id, source: row.source }))
  // The stamp is drawn only when something changed; until then any will do, because only the content is compared.
  const { rows } = await renderRecords(turn, dataset, records, 0)
  const changed = rows.filter((row) => !isSameContent(row.document, before.get(row.id) ?? ''))
  if (changed.length === 0) return 0
  const stamp = turn.stamp(dataset)
  const restamped = changed.map((row) => ({ ...row, document: restamp(row.document, stamp) }))
  await restampCounts(turn, dataset, restamped, stamp)
  await updateDocuments(turn.client, turn.locationId, dataset, stamp, restamped)
  return changed.length
}

/** Counts records under their new stamp. To be called while they stand under the one before. */
async function restampCounts(
  turn: Turn,
  dataset: DatasetName,
  records: readonly { id: string }[],
  stamp: Stamp,
): Promise<void> {
  const ids = records.map((record) => record.id)
  turn.state(dataset).tally.restamp(await findBuckets(turn.client, turn.locationId, dataset, ids), stamp)
}

/** What a dataset's records show of another's: nothing, its id alone, or more. */
export function showsMoreThanId(dataset: DatasetName, target: DatasetName): boolean {
  return referencesFrom(dataset).some(({ to, embedded }) => to === target && embedded.length > 0)
}

/** Whether what others show of this record changed, and not only the rest. */
function altersReferring(dataset: DatasetName, record: ChangedRecord): boolean {
  const attributes = referencesTo(dataset).flatMap(({ embedded }) => embedded)
  if (attributes.length === 0) return false
  const before = JSON.parse(record.previousSource ?? '{}')
  const after = JSON.parse(record.source)
  return attributes.some((attribute) => before[attribute] !== after[attribute])
}

/** Renders what refers to these records: at once when it is little, else as work for the rerenderer, committed with the change. */
async function renderReferring(
  turn: Turn,
  target: DatasetName,
  records: { inserted: readonly string[]; changed: readonly string[] },
): Promise<void> {
  const { client, locationId } = turn
  for (const { from: other, embedded } of referencesTo(target)) {
    const isMore = embedded.length > 0
    const targets = {
      dataset: target,
      sourceIds: isMore ? [...records.inserted, ...records.changed] : records.inserted,
    }
    if (targets.sourceIds.length === 0) continue
    const ids = await listReferring(client, locationId, targets, other, '0', rerenderSliceMax + 1)
    if (ids.length > rerenderSliceMax) await addRerenderWork(client, locationId, targets, other)
    else if (ids.length > 0) {
      await rerenderRecords(turn, other, ids)
      if (!isMore) await deleteReferences(client, locationId, targets, other)
    }
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
