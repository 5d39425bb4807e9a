import { type DatasetName, getDataset } from '@bridgework/contract'
import type { Pool } from 'pg'
import { Problem } from '../../../platform/errors/problem.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import { mapWithPauses } from '../../../platform/memory/pauses.ts'
import { noteNumber, requireReachable } from '../../agents/agent-number.ts'
import { holdWriter } from '../../agents/location-writer.ts'
import { hasNotesGranted } from '../../consent/notes.ts'
import type { SeenStamps } from '../../datasets/seen-stamps.ts'
import { type AsStored, requireAsStored } from './as-stored.ts'
import { type ChangedRecord, hideRecords, type NewRecord, writeRecords } from './change.ts'
import { hashSource, mayHaveNotes, withoutNotes } from './document.ts'
import { type PackedBody, savePackedBody } from './packed-body.ts'
import { parseSource, sourceText } from './stored-source.ts'
import { type Turn, takeTurn } from './turn.ts'
import { findNumber, saveUpload, takeOffRemovals } from './upload-store.ts'
import { findBySourceIds, type StoredRecord } from './write-store.ts'

/** `source`: canonical JSON of what was sent, validated; null: the record was removed in the practice management system. `hash`: where it is known. */
export type UploadLine = { sourceId: string; source: string | null; hash?: string | undefined }

export type Upload = {
  locationId: LocationId
  dataset: DatasetName
  agentId: AgentId
  /** That of the location's writer when the upload began; null: no agent of an office sends it. */
  fence: string | null
  /** Rises with every upload of the agent; decimal digits. */
  number: string
  /** SHA-256 of the body, in hex. */
  bodyHash: string
  lines: readonly UploadLine[]
  /** Further lines, whose sources were not read. */
  asStored?: AsStored
  /** Where it may be known by its bytes when it comes again. */
  body?: PackedBody | null
}

export type UploadAnswer = { inserted: number; changed: number; unchanged: number; hidden: number }

/**
 * Stores one upload, whole or not at all, and its answer with it: the same upload again (`isRepeated`) gets the same answer and has no second effect.
 * Source ids are distinct. `total`: how many records the dataset has now. `seen`: learns the stamps. Refuses with `idempotency_key_reused`, `busy` and
 * `location_unknown`.
 */
export async function storeUpload(
  pool: Pool,
  upload: Upload,
  now: () => Date,
  seen?: SeenStamps,
): Promise<{ answer: UploadAnswer; isRepeated: boolean; total: number }> {
  const { locationId, dataset } = upload
  const isSmall = upload.lines.length <= smallLines
  const store = async (turn: Turn) => {
    await requireReachable(turn.client, upload.agentId, upload.number)
    await noteNumber(turn.client, upload.agentId, upload.number)
    const { earlier, isUsed, isPassed } = await findNumber(turn.client, upload)
    if (earlier && earlier.bodyHash !== upload.bodyHash) throw new Problem('idempotency_key_reused')
    const state = turn.state(dataset)
    if (earlier) return { answer: JSON.parse(earlier.answer), isRepeated: true, total: state.total }
    if (upload.fence !== null && !(await holdWriter(turn.client, { ...upload, fence: upload.fence }, upload.number)))
      throw new Problem('idempotency_key_reused', { errors: readBeforeErrors })
    if (isUsed) throw new Problem('idempotency_key_reused')
    if (isPassed) {
      throw new Problem('idempotency_key_reused', {
        errors: 'A later upload of this dataset had a higher number. Number uploads above highest_number.',
      })
    }
    if (upload.asStored) await requireAsStored(turn, dataset, upload.asStored)
    const lines = await storedLines(turn, upload)
    const sourceIds = lines.map((line) => line.sourceId)
    const stored = new Map<string, StoredRecord>()
    for (const record of await findBySourceIds(turn.client, locationId, dataset, sourceIds)) {
      stored.set(record.sourceId, record)
    }
    const { sent = [], neighbours = null } = upload.asStored ?? {}
    const asStored = sent.flatMap((part) => part.sourceIds)
    const ids = neighbours ? `{[${neighbours.firstId},${neighbours.lastId}]}` : '{}'
    const { inserts, updates, removals, unchanged } = sort(lines, stored, asStored)
    const origin = { agentId: upload.agentId, uploadNumber: upload.number, receivedAt: now() }
    await writeRecords(turn, dataset, origin, inserts, updates)
    const hidden = await hideRecords(turn, dataset, removals)
    const answer = {
      inserted: inserts.length,
      changed: updates.length,
      unchanged: unchanged.length + (neighbours?.records ?? 0),
      hidden,
    }
    await saveUpload(turn.client, upload, JSON.stringify(answer), { keys: unchanged, ids }, origin.receivedAt)
    await takeOffRemovals(turn.client, upload, { keys: [...sourceIds, ...asStored], ids })
    if (upload.body) await savePackedBody(turn.client, locationId, dataset, upload.body)
    return { answer, isRepeated: false, total: state.total }
  }
  return takeTurn(pool, locationId, dataset, store, { isSmall, seen })
}

const readBeforeErrors =
  'Another agent wrote at this location after this upload was numbered. Read everything again, and number uploads above highest_number.'

/** How many lines an upload has. */
export function countLines({ lines, asStored }: Pick<Upload, 'lines' | 'asStored'>): number {
  const { sent = [], neighbours = null } = asStored ?? {}
  return sent.reduce((sum, part) => sum + part.sourceIds.length, lines.length + (neighbours?.records ?? 0))
}

/** For more lines, PostgreSQL plans better when it knows how many there are, and background work steps back. */
export const smallLines = 500

/** What is stored of the lines: without notes where no company may read them. Asked in the turn, so that a removal of notes misses none. */
async function storedLines({ client }: Turn, { locationId, dataset, lines }: Upload): Promise<readonly UploadLine[]> {
  const definition = getDataset(dataset)
  if (lines.length === 0 || definition.notes.length === 0 || (await hasNotesGranted(client, locationId, dataset)))
    return lines
  return await mapWithPauses(lines, (line) => {
    if (line.source === null || !mayHaveNotes(definition, line.source)) return line
    const source = parseSource(dataset, line.source)
    const bare = withoutNotes(definition, source)
    return bare === source ? line : { sourceId: line.sourceId, source: sourceText(dataset, bare) }
  })
}

function sort(lines: readonly UploadLine[], stored: ReadonlyMap<string, StoredRecord>, asStored: readonly string[]) {
  const inserts: NewRecord[] = []
  const updates: ChangedRecord[] = []
  const removals: string[] = []
  const unchanged = [...asStored]
  for (const { sourceId, source, hash: known } of lines) {
    const record = stored.get(sourceId)
    if (source === null) {
      if (record && !record.isHidden) removals.push(sourceId)
      else unchanged.push(sourceId)
    } else if (!record) inserts.push({ sourceId, source, hash: known })
    else {
      const hash = known ?? hashSource(source)
      if (record.sourceHash === hash) unchanged.push(sourceId)
      else updates.push({ sourceId, source, hash, id: record.id, wasHidden: record.isHidden })
    }
  }
  return { inserts, updates, removals, unchanged }
}
