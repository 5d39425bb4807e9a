import { findDataset } from '@bridgework/contract'
import type { DatasetName, NotesRead, SourceRecord } from '../connector.ts'
import type { NotesWanted } from '../ingest-client.ts'

/** The notes that this cycle sends, as far as the service asked for them and the office lets them go. */
export type Notes = {
  /** Datasets that are wanted with notes at one location at least. */
  readonly read: NotesRead
  /** Names what is wanted of a dataset: another text than at the last full read leads to a full read. Null: it has no notes. */
  mark(dataset: DatasetName): string | null
  /** The records as they are sent from this location. */
  applyTo(sourceId: string, dataset: DatasetName, records: readonly SourceRecord[]): readonly SourceRecord[]
}

/** `sendNotes` false: the office sends none, whatever is granted. */
export function notesOf(wanted: readonly NotesWanted[], sendNotes: boolean): Notes {
  const sent = sendNotes ? wanted : []
  return {
    read: new Set(sent.map(({ dataset }) => dataset as DatasetName)),
    mark: (dataset) => {
      if (namesOf(dataset).length === 0) return null
      const own = sent.filter((each) => each.dataset === dataset)
      return JSON.stringify(own.map(({ sourceId, since }) => [sourceId, since]).sort())
    },
    applyTo: (sourceId, dataset, records) => {
      const isSent = sent.some((each) => each.sourceId === sourceId && each.dataset === dataset)
      const names = isSent ? [] : namesOf(dataset)
      return names.length === 0 ? records : records.map((record) => without(names, record))
    },
  }
}

function namesOf(dataset: DatasetName): readonly string[] {
  return findDataset(dataset)?.notes ?? []
}

function without(names: readonly string[], record: SourceRecord): SourceRecord {
  const nulls = Object.fromEntries(names.map((name) => [name, null]))
  return { ...record, attributes: { ...record.attributes, ...nulls } }
}
