import type { Dataset, SourceRecord } from '@bridgework/contract'

/**
 * What is stored of a record's source. Where its dataset says what its documents lack of it (`kept`), only that: the document has the rest. Else,
 * and in rows of earlier releases until they are written again, the whole text.
 */
export type StoredSource = { source: string | null; source_kept: string | null }

/** The columns of a source, which is given as canonical text and parsed. */
export function storedSource({ kept }: Dataset, text: string, source: SourceRecord): StoredSource {
  return kept
    ? { source: null, source_kept: JSON.stringify(kept.map((name) => source[name])) }
    : { source: text, source_kept: null }
}

/** The columns from which a source is made again. */
export type SourceColumns = StoredSource & { document: string; document_with_notes: string | null }

/** The source, in canonical order, as it was sent. */
export function sourceOf(dataset: Dataset, row: SourceColumns): SourceRecord {
  if (row.source !== null) return JSON.parse(row.source)
  const { attributes }: { attributes: SourceRecord } = JSON.parse(row.document_with_notes ?? row.document)
  const kept: unknown[] = JSON.parse(row.source_kept ?? '[]')
  const source: SourceRecord = {}
  for (const name of Object.keys(dataset.source.properties)) {
    const place = dataset.kept?.indexOf(name) ?? -1
    const value = place === -1 ? attributes[name] : kept[place]
    // A member that a later release added is in no older record.
    if (value !== undefined) source[name] = value
  }
  return source
}
