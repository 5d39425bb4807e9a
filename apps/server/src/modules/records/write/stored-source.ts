import { completeSource, type Dataset, datasets, type SourceRecord } from '@bridgework/contract'
import { canonicalSource } from '@bridgework/contract/ingest'

/**
 * What is stored of a record's source, which is given as canonical text and parsed. Where its dataset says what its documents lack of it (`kept`), a list
 * of these values, in JSON: the document has the rest. Else the whole text.
 */
export function storedSource({ kept }: Dataset, text: string, source: SourceRecord): string {
  return kept ? JSON.stringify(kept.map((name) => source[name])) : text
}

/** The columns from which a source is made again. */
export type SourceColumns = { source: string; document: string; document_with_notes: string | null }

/** The source with every member that the contract has; `sourceText` of it is what was sent. */
export function sourceOf({ name: dataset, kept, source: { properties } }: Dataset, row: SourceColumns): SourceRecord {
  if (!kept) return parseSource(dataset, row.source)
  const { attributes }: { attributes: SourceRecord } = JSON.parse(row.document_with_notes ?? row.document)
  const values: unknown[] = JSON.parse(row.source)
  const source: SourceRecord = {}
  for (const name of Object.keys(properties)) {
    const place = kept.indexOf(name)
    const value = place === -1 ? attributes[name] : values[place]
    if (value !== undefined) source[name] = value
  }
  return complete(dataset, source)
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
