import { completeSource, type Dataset, datasets, type SourceRecord } from '@bridgework/contract'
import { canonicalSource } from '@bridgework/contract/ingest'

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

/** The source with every member that the contract has; `sourceText` of it is what was sent. */
export function sourceOf(dataset: Dataset, row: SourceColumns): SourceRecord {
  if (row.source !== null) return parseSource(dataset.name, row.source)
  const { attributes }: { attributes: SourceRecord } = JSON.parse(row.document_with_notes ?? row.document)
  const kept: unknown[] = JSON.parse(row.source_kept ?? '[]')
  const source: SourceRecord = {}
  for (const name of Object.keys(dataset.source.properties)) {
    const place = dataset.kept?.indexOf(name) ?? -1
    const value = place === -1 ? attributes[name] : kept[place]
    if (value !== undefined) source[name] = value
  }
  return complete(dataset.name, source)
}

/** A source from its text, with every member that the contract has: null where the text, which may be of an older agent, has none. */
export function parseSource(dataset: string, text: string): SourceRecord {
  return complete(dataset, JSON.parse(text))
}

/** The canonical text of a source. */
export function sourceText(dataset: string, source: SourceRecord): string {
  return made(canonicals, dataset)(source)
}

function complete(dataset: string, source: SourceRecord): SourceRecord {
  return made(completes, dataset)(source)
}

// Made once: a million records are stored with them.
const canonicals = new Map<string, ReturnType<typeof canonicalSource>>(
  datasets.map((dataset) => [dataset.name, canonicalSource(dataset)]),
)
const completes = new Map<string, ReturnType<typeof completeSource>>(
  datasets.map((dataset) => [dataset.name, completeSource(dataset)]),
)

function made<T>(functions: ReadonlyMap<string, T>, name: string): T {
  const found = functions.get(name)
  if (!found) throw new Error(`no dataset ${name}`)
  return found
}
