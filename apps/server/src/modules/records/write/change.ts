import { type DatasetName, getDataset, referencesFrom, referencesTo } from '@bridgework/contract'
import { partsOf } from '../../../platform/memory/parts.ts'
import { mapWithPauses } from '../../../platform/memory/pauses.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { findBuckets } from './counts.ts'
import { hashSource, isSameButNulls, isSameContent, restamp, stampedAs } from './document.ts'
import { inSteps, type Write } from './in-steps.ts'
import {
  addRerenderWork,
  completeDocuments,
  deleteReferences,
  findReferring,
  listReferring,
  packReferences,
  type RenderedRow,
  readForRendering,
  replaceReferences,
  updateDocuments,
} from './reference-store.ts'
import { lookUpTargets, type Rendering, renderRecords, type Targets, type ToRender } from './rendering.ts'
import { parseSource, sourceOf, sourceText } from './stored-source.ts'
import type { Turn } from './turn.ts'
import {
  drawIds,
  insertRecords,
  type Origin,
  packRecords,
  type RecordRow,
  readMembers,
  readSources,
  updateHidden,
  updateRecords,
} from './write-store.ts'

/** One record whose content changes. `source` is canonical JSON, `hash` its hash where that is known. */
export type NewRecord = { sourceId: string; source: string; hash?: string | undefined }
export type ChangedRecord = NewRecord & { id: string; wasHidden: boolean }

/** A change that alters more other records than this leaves them to the rerenderer, in slices of as many. */
export const rerenderSliceMax = 5000

/** Writes new and changed records, rendered, under one stamp, and renders again what refers to them. */
export async function writeRecords(
  turn: Turn,
  dataset: DatasetName,
  origin: Origin,
  inserts: readonly NewRecord[],
  updates: readonly ChangedRecord[],
): Promise<void> {
  if (inserts.length + updates.length === 0) return
  const ids = await drawIds(turn.client, dataset, inserts.length)
  const inserted = inserts.map(({ sourceId, source, hash }, index) => ({ id: at(ids, index), sourceId, source, hash }))
  const altering = await findAltering(turn, dataset, updates)
  await writeParts(turn, dataset, origin, inserted, updates)
  const state = turn.state(dataset)
  state.total += inserts.length
  state.visible -= updates.filter((record) => !record.wasHidden).length
  await renderReferring(turn, dataset, { inserted: inserts.map((record) => record.sourceId), changed: altering })
}

const sourceLength = ({ source }: NewRecord) => source.length

type Identified = NewRecord & { id: string }

/** Renders and writes part by part: of a whole upload, sources, documents and statements would be in memory at once. */
async function writeParts(
  turn: Turn,
  dataset: DatasetName,
  origin: Origin,
  inserted: readonly Identified[],
  updates: readonly Identified[],
): Promise<void> {
  const batch = [...inserted, ...updates]
  const parts = [
    ...Array.from(partsOf(inserted, sourceLength), (records) => ({ records, isNew: true })),
    ...Array.from(partsOf(updates, sourceLength), (records) => ({ records, isNew: false })),
  ]
  const known: Targets = new Map()
  await inSteps(parts, {
    async prepare({ records, isNew }) {
      const parsed = await mapWithPauses(records, (record) => parseRecord(dataset, record))
      return { parsed, isNew, lookup: await lookUpTargets(turn, dataset, parsed, batch, known) }
    },
    async render({ parsed, isNew, lookup }) {
      const rendering = await renderRecords(turn, dataset, parsed, turn.stamp(dataset), lookup)
      return isNew ? insertPart(turn, dataset, origin, rendering) : updatePart(turn, dataset, origin, rendering)
    },
  })
}

function parseRecord(dataset: DatasetName, { id, sourceId, source, hash }: Identified): ToRender {
  return { id, sourceId, source: parseSource(dataset, source), text: source, hash: hash ?? hashSource(source) }
}

/** Packs the rows at once, and returns what writes them. */
function insertPart(turn: Turn, dataset: DatasetName, origin: Origin, { rows, references }: Rendering): Write {
  const { client, locationId } = turn
  const stamp = turn.stamp(dataset)
  const packed = packRecords(locationId, dataset, stamp, origin, rows)
  const watched = references.length > 0 ? packReferences(locationId, dataset, references) : null
  count(turn, dataset, rows)
  return async () => {
    await insertRecords(client, packed)
    await replaceReferences(client, locationId, dataset, [], watched)
  }
}

function updatePart(turn: Turn, dataset: DatasetName, origin: Origin, { rows, references }: Rendering): Write {
  const { client, locationId } = turn
  const stamp = turn.stamp(dataset)
  const ids = rows.map((row) => row.id)
  const watched = references.length > 0 ? packReferences(locationId, dataset, references) : null
  return async () => {
    turn.state(dataset).tally.subtract(await findBuckets(client, locationId, dataset, ids))
    count(turn, dataset, rows)
    await updateRecords(client, locationId, dataset, stamp, origin, rows)
    await replaceReferences(client, locationId, dataset, ids, watched)
  }
}

function count(turn: Turn, dataset: DatasetName, rows: readonly RecordRow[]): void {
  const state = turn.state(dataset)
  const stamp = turn.stamp(dataset)
  for (const row of rows) state.tally.add(row, stamp)
  state.visible += visibleIn(rows)
}

/** Hides the visible records of these source ids, which the practice management system no longer has: they stay, hidden. Returns how many. */
export async function hideRecords(turn: Turn, dataset: DatasetName, sourceIds: readonly string[]): Promise<number> {
  const hidden: string[] = []
  if (sourceIds.length === 0) return 0
  for await (const part of readSources(turn.client, turn.locationId, dataset, sourceIds)) {
    const visible = part.filter((record) => !record.isHidden)
    if (visible.length === 0) continue
    const stamp = turn.stamp(dataset)
    const changed = await mapWithPauses(visible, ({ id, sourceId, source: before }) => {
      const source = { ...before, is_hidden: true }
      const text = sourceText(dataset, source)
      return { id, sourceId, source, text, hash: hashSource(text) }
    })
    const { rows } = await renderRecords(turn, dataset, changed, stamp)
    await restampCounts(turn, dataset, rows, stamp)
    await updateHidden(turn.client, turn.locationId, dataset, stamp, rows)
    hidden.push(...visible.map(({ sourceId }) => sourceId))
  }
  turn.state(dataset).visible -= hidden.length
  await renderReferring(turn, dataset, { inserted: [], changed: hidden })
  return hidden.length
}

/**
 * Renders these records of a dataset again and writes those whose content differs. Returns how many did. Where only members are added that are null,
 * the record keeps its stamp: for vendors it has not changed.
 */
export async function rerenderRecords(turn: Turn, dataset: DatasetName, ids: readonly string[]): Promise<number> {
  const known: Targets = new Map()
  let changed = 0
  await inSteps([...partsOf(ids, () => 0)], {
    async prepare(part) {
      const stored = await readForRendering(turn.client, turn.locationId, dataset, part)
      const records = await toRenderAgain(dataset, stored)
      return { stored, records, lookup: await lookUpTargets(turn, dataset, records, records, known) }
    },
    async render({ stored, records, lookup }) {
      const before = new Map(stored.map((row) => [row.id, row]))
      // The stamp is drawn only when something changed; until then any will do, because only the content is compared.
      const { rows } = await renderRecords(turn, dataset, records, 0, lookup)
      const other = rows.filter((row) => !isSame(row, before.get(row.id)))
      const completed = other.flatMap((row) => completedRow(row, before.get(row.id)) ?? [])
      const completedIds = new Set(completed.map(({ id }) => id))
      const differing = other.filter(({ id }) => !completedIds.has(id))
      const complete = async () => {
        if (completed.length > 0) await completeDocuments(turn.client, turn.locationId, dataset, completed)
      }
      if (differing.length === 0) return complete
      changed += differing.length
      const stamp = turn.stamp(dataset)
      const restamped = differing.map((row) => ({
        ...row,
        document: restamp(row.document, stamp),
        document_with_notes: row.document_with_notes && restamp(row.document_with_notes, stamp),
      }))
      return async () => {
        await complete()
        await restampCounts(turn, dataset, restamped, stamp)
        await updateDocuments(turn.client, turn.locationId, dataset, stamp, restamped)
      }
    },
  })
  return changed
}

/** Stored records, of which only the documents are to be written. */
export function toRenderAgain(dataset: DatasetName, stored: readonly RenderedRow[]): Promise<ToRender[]> {
  const definition = getDataset(dataset)
  return mapWithPauses(stored, (row) => ({
    id: row.id,
    sourceId: row.source_id,
    source: sourceOf(definition, row),
    text: '',
    hash: '',
  }))
}

function isSame(one: Documents, other: Documents | undefined): boolean {
  return (
    other !== undefined &&
    isSameContent(one.document, other.document) &&
    isSameContent(one.document_with_notes, other.document_with_notes)
  )
}

/** The row with its stamp as it was, where it differs in nothing but members that are null; undefined where it differs in more. */
function completedRow<Row extends Documents>(row: Row, before: Documents | undefined): Row | undefined {
  const { document, document_with_notes: noted } = row
  if (!before || !isSameButNulls(document, before.document)) return undefined
  if (!isSameButNulls(noted, before.document_with_notes)) return undefined
  return {
    ...row,
    document: stampedAs(document, before.document),
    document_with_notes: noted && stampedAs(noted, before.document),
  }
}

type Documents = Pick<RecordRow, 'document' | 'document_with_notes'>

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

/** Those of the changed records of which something changes that others show. To be called while they are stored as they were. */
async function findAltering(turn: Turn, dataset: DatasetName, updates: readonly ChangedRecord[]): Promise<string[]> {
  const attributes = referencesTo(dataset).flatMap(({ embedded }) => embedded)
  if (attributes.length === 0 || updates.length === 0) return []
  const sources = new Map(updates.map(({ sourceId, source }) => [sourceId, source]))
  const stored = await readMembers(turn.client, turn.locationId, dataset, [...sources.keys()], attributes)
  const altering: string[] = []
  await mapWithPauses(stored, ({ sourceId, members }) => {
    const after = JSON.parse(sources.get(sourceId) ?? '{}')
    const differs = (attribute: string) => members[attribute] !== (after[attribute] ?? null)
    if (attributes.some(differs)) altering.push(sourceId)
  })
  return altering
}

/** Renders what refers to these records: at once when it is little, else as work for the rerenderer, committed with the change. */
async function renderReferring(
  turn: Turn,
  target: DatasetName,
  records: { inserted: readonly string[]; changed: readonly string[] },
): Promise<void> {
  const { client, locationId } = turn
  const altered = referencesTo(target).flatMap(({ from: other, embedded }) => {
    const isMore = embedded.length > 0
    const sourceIds = isMore ? [...records.inserted, ...records.changed] : records.inserted
    return sourceIds.length === 0 ? [] : [{ other, isMore, targets: { dataset: target, sourceIds } }]
  })
  if (altered.length === 0) return
  const datasets = altered.map(({ other }) => other)
  const referring = await findReferring(client, locationId, datasets)
  for (const { other, isMore, targets } of altered) {
    if (!referring.has(other)) continue
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
