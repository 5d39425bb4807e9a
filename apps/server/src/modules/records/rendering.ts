import {
  type Dataset,
  type DatasetName,
  getDataset,
  type Lookup,
  referencesFrom,
  type SourceRecord,
} from '@bridgework/contract'
import { mapWithPauses } from '../../platform/memory/pauses.ts'
import { parseInstant } from '../datasets/instant.ts'
import type { Stamp } from '../datasets/stamp.ts'
import { hashSource, renderDocument } from './document.ts'
import type { ReferenceRow } from './reference-store.ts'
import type { Turn } from './turn.ts'
import { findBySourceIds, findIds, type RecordRow } from './write-store.ts'

/** A record to be rendered: `source` is canonical JSON. */
export type ToRender = { id: string; sourceId: string; source: string }

/** Rendered rows, and the references that must be watched: those whose target is missing, and those that show more of it than its id. */
export type Rendering = { rows: RecordRow[]; references: ReferenceRow[] }

/**
 * Renders records of one dataset as they stand at `modifiedAt`. What they refer to is read in one statement for each referred dataset, and
 * only this location's records can be found; records of the same batch find each other.
 */
export async function renderRecords(
  turn: Turn,
  dataset: DatasetName,
  records: readonly ToRender[],
  modifiedAt: Stamp,
): Promise<Rendering> {
  const definition = getDataset(dataset)
  const parsed = await mapWithPauses(records, (record) => ({
    ...record,
    parsed: JSON.parse(record.source) as SourceRecord,
  }))
  const lookup = await lookUp(turn, definition, parsed)
  const rows = await mapWithPauses(parsed, ({ parsed: source, ...record }) => {
    const { patientSourceId = null, startsAt = null } = definition.filterValues?.(source) ?? {}
    return {
      id: record.id,
      source_id: record.sourceId,
      is_hidden: source.is_hidden === true,
      source_hash: hashSource(record.source),
      source: record.source,
      document: renderDocument(definition, { ...record, source, modifiedAt }, lookup),
      patient_id: patientSourceId === null ? null : (lookup('patients', patientSourceId)?.id ?? null),
      starts_at: startsAt === null ? null : parseInstant(startsAt),
    }
  })
  return { rows, references: parsed.flatMap((record) => watched(definition, record, lookup)) }
}

async function lookUp(
  turn: Turn,
  dataset: Dataset,
  records: readonly { id: string; sourceId: string; parsed: SourceRecord }[],
): Promise<Lookup> {
  const found = new Map<string, Map<string, { id: string; source: SourceRecord }>>()
  for (const { to: target, embedded } of referencesFrom(dataset.name)) {
    const wanted = new Set(
      dataset.refersTo
        .filter((rule) => rule.dataset === target)
        .flatMap((rule) => records.flatMap((record) => rule.keysOf(record.parsed))),
    )
    found.set(target, await findTargets(turn, target, [...wanted], embedded.length > 0))
  }
  const own = found.get(dataset.name)
  for (const record of own ? records : []) own?.set(record.sourceId, { id: record.id, source: record.parsed })
  return (target, sourceId) => found.get(target)?.get(sourceId) ?? null
}

async function findTargets(turn: Turn, target: string, sourceIds: readonly string[], isWhole: boolean) {
  const { client, locationId } = turn
  if (sourceIds.length === 0) return new Map<string, { id: string; source: SourceRecord }>()
  if (!isWhole) {
    const ids = await findIds(client, locationId, target, sourceIds)
    return new Map(ids.map((row) => [row.source_id, { id: row.id, source: {} as SourceRecord }]))
  }
  const records = await findBySourceIds(client, locationId, target, sourceIds, true)
  return new Map(
    records.map((record) => [
      record.sourceId,
      { id: record.id, source: JSON.parse(record.source ?? '{}') as SourceRecord },
    ]),
  )
}

function watched(dataset: Dataset, record: { id: string; parsed: SourceRecord }, lookup: Lookup): ReferenceRow[] {
  const rows = new Map<string, ReferenceRow>()
  for (const rule of dataset.refersTo) {
    for (const key of rule.keysOf(record.parsed)) {
      if (rule.changesWith.length === 0 && lookup(rule.dataset, key) !== null) continue
      rows.set(`${rule.dataset} ${key}`, { target_dataset: rule.dataset, target_source_id: key, record_id: record.id })
    }
  }
  return [...rows.values()]
}
