import {
  type Dataset,
  type DatasetName,
  getDataset,
  type Lookup,
  referencesFrom,
  type SourceRecord,
} from '@bridgework/contract'
import { mapWithPauses } from '../../../platform/memory/pauses.ts'
import { parseMoment } from '../../datasets/instant.ts'
import type { Stamp } from '../../datasets/stamp.ts'
import { renderDocuments } from './document.ts'
import type { ReferenceRow } from './reference-store.ts'
import { storedSource } from './stored-source.ts'
import type { Turn } from './turn.ts'
import { findIds, type RecordRow, readMembers } from './write-store.ts'

/** A record to be rendered. `text` and `hash`: its source's canonical JSON and the hash of it; empty where only documents are written. */
export type ToRender = { id: string; sourceId: string; source: SourceRecord; text: string; hash: string }

/** Rendered rows, and the references that must be watched: those whose target is missing, and those that show more of it than its id. */
export type Rendering = { rows: RecordRow[]; references: ReferenceRow[] }

/** Renders records of one dataset as they stand at `modifiedAt`. `lookup`: what they refer to, where that is known already. */
export async function renderRecords(
  turn: Turn,
  dataset: DatasetName,
  records: readonly ToRender[],
  modifiedAt: Stamp,
  lookup?: Lookup,
): Promise<Rendering> {
  const definition = getDataset(dataset)
  const find = lookup ?? (await lookUpTargets(turn, dataset, records))
  const references: ReferenceRow[] = []
  const rows = await mapWithPauses(records, (record) => {
    const { source } = record
    references.push(...watched(definition, record.id, source, find))
    const { patientSourceId = null, startsAt = null } = definition.filterValues?.(source) ?? {}
    return {
      id: record.id,
      source_id: record.sourceId,
      is_hidden: source.is_hidden === true,
      source_hash: record.hash,
      source: storedSource(definition, record.text, source),
      ...renderDocuments(definition, { id: record.id, sourceId: record.sourceId, source, modifiedAt }, find),
      patient_id: patientSourceId === null ? null : (find('patients', patientSourceId)?.id ?? null),
      starts_at: startsAt === null ? null : parseMoment(startsAt),
    }
  })
  return { rows, references }
}

/** What was looked up, by dataset and source id; null: there is none. Nothing of it changes while the turn lasts. */
export type Targets = Map<string, Map<string, Target | null>>
type Target = { id: string; source: SourceRecord }

/**
 * What records refer to, read in one statement for each referred dataset. Only this location's records can be found. Records of the batch of which
 * these are a part find each other. `known`: of the parts before, and then of this one too.
 */
export async function lookUpTargets(
  turn: Turn,
  dataset: DatasetName,
  records: readonly ToRender[],
  batch: readonly { id: string; sourceId: string }[] = records,
  known: Targets = new Map(),
): Promise<Lookup> {
  const { refersTo } = getDataset(dataset)
  const wanted = new Map(refersTo.map((rule) => [rule.dataset, new Set<string>()]))
  await mapWithPauses(refersTo.length === 0 ? [] : records, ({ source }) => {
    for (const rule of refersTo) for (const key of rule.keysOf(source)) wanted.get(rule.dataset)?.add(key)
  })
  for (const { to: target, embedded } of referencesFrom(dataset)) {
    const targets = known.get(target) ?? new Map<string, Target | null>()
    known.set(target, targets)
    const unknown = [...(wanted.get(target) ?? [])].filter((sourceId) => !targets.has(sourceId))
    const found = await findTargets(turn, target, unknown, embedded)
    for (const sourceId of unknown) targets.set(sourceId, found.get(sourceId) ?? null)
  }
  // A dataset shows no more of its own records than the id: `datasets.test.ts` holds that.
  const own = known.get(dataset)
  for (const { id, sourceId } of own ? batch : []) own?.set(sourceId, { id, source: {} })
  return (target, sourceId) => known.get(target)?.get(sourceId) ?? null
}

/** The targets' ids, with no more of their sources than is shown of them. */
async function findTargets(turn: Turn, target: string, sourceIds: readonly string[], embedded: readonly string[]) {
  const { client, locationId } = turn
  const targets = new Map<string, Target>()
  if (sourceIds.length === 0) return targets
  if (embedded.length === 0) {
    const ids = await findIds(client, locationId, target, sourceIds)
    for (const { id, source_id: sourceId } of ids) targets.set(sourceId, { id, source: {} })
  } else {
    const found = await readMembers(client, locationId, target, sourceIds, embedded)
    for (const { id, sourceId, members } of found) targets.set(sourceId, { id, source: members })
  }
  return targets
}

function watched(dataset: Dataset, id: string, source: SourceRecord, lookup: Lookup): ReferenceRow[] {
  const rows = new Map<string, ReferenceRow>()
  for (const rule of dataset.refersTo) {
    for (const key of rule.keysOf(source)) {
      if (rule.changesWith.length === 0 && lookup(rule.dataset, key) !== null) continue
      rows.set(`${rule.dataset} ${key}`, { target_dataset: rule.dataset, target_source_id: key, record_id: id })
    }
  }
  return [...rows.values()]
}
