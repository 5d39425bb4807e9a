import { hash } from 'node:crypto'
import type { Dataset, Lookup, SourceRecord } from '@bridgework/contract'
import { formatInstant, type Stamp } from '../../datasets/stamp.ts'
import { parseSource } from './stored-source.ts'

/** A record's id and the JSON that vendors receive of it. */
export type Document = [id: string, document: string]

/** A record as its dataset's rendering needs it. */
export type Rendered = { id: string; sourceId: string; source: SourceRecord; modifiedAt: Stamp }

/** The JSON that vendors receive of a record: without its notes, and with them where it has any. */
export function renderDocuments(dataset: Dataset, record: Rendered, lookup: Lookup) {
  const source = withoutNotes(dataset, record.source)
  const hasNotes = source !== record.source
  return {
    document: renderDocument(dataset, record, source, lookup),
    document_with_notes: hasNotes ? renderDocument(dataset, record, record.source, lookup) : null,
  }
}

/** `updated_at` comes last: `isSameContent` relies on it. */
function renderDocument(
  dataset: Dataset,
  record: Omit<Rendered, 'source'>,
  source: SourceRecord,
  lookup: Lookup,
): string {
  return JSON.stringify({
    id: record.id,
    type: dataset.type,
    attributes: {
      ...dataset.render(source, lookup),
      source_id: record.sourceId,
      updated_at: formatInstant(record.modifiedAt),
    },
  })
}

/** The source without its notes, its members in their order; the very same object where it has none. */
export function withoutNotes({ notes }: Dataset, source: SourceRecord): SourceRecord {
  const own = notes.filter((name) => source[name] !== null)
  return own.length === 0 ? source : { ...source, ...Object.fromEntries(own.map((name) => [name, null])) }
}

/** Whether a source may have notes, by its canonical text: a note is text or null, and text has no quote that is not escaped. */
export function mayHaveNotes({ notes }: Dataset, text: string): boolean {
  return notes.some((name) => text.includes(`"${name}":"`))
}

/** The single record: the list's document with the attributes that lists leave out. `source`: as it is stored, which is whole where there are such. */
export function renderDetail(dataset: Dataset, document: string, source: string): string {
  if (!dataset.renderDetail) return document
  const record = JSON.parse(document)
  Object.assign(record.attributes, dataset.renderDetail(parseSource(dataset.name, source)))
  return JSON.stringify(record)
}

/** Whether two documents differ at most in `updated_at`. Null: there is none. */
export function isSameContent(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other
  return one.length === other.length && one.slice(0, -suffixLength) === other.slice(0, -suffixLength)
}

/** Whether two documents differ at most in `updated_at` and in members that are null. Null: there is none. */
export function isSameButNulls(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other
  return isSameContent(withoutNulls(one), withoutNulls(other))
}

/** A replacer's undefined leaves a member out; in a list, where it must stay, it is written as null. */
function withoutNulls(document: string): string {
  return JSON.stringify(JSON.parse(document), (_, value: unknown) => value ?? undefined)
}

/** The same document, modified when another one was. */
export function stampedAs(document: string, other: string): string {
  return document.slice(0, -suffixLength) + other.slice(-suffixLength)
}

/** The same document, modified at another moment. */
export function restamp(document: string, modifiedAt: Stamp): string {
  return `${document.slice(0, -suffixLength)}${suffixOf(modifiedAt)}`
}

function suffixOf(modifiedAt: Stamp): string {
  return `"updated_at":"${formatInstant(modifiedAt)}"}}`
}

const suffixLength = suffixOf(0).length

/** What tells a changed record from an unchanged one: the first 16 bytes of the SHA-256 of its canonical source, in hex. */
export function hashSource(source: string | Buffer): string {
  return hash('sha256', source).slice(0, 32)
}
