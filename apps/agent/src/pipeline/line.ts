import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { contractNumber, datasets, sourceAt } from '@bridgework/contract'
import { canonicalSource, listHashLength } from '@bridgework/contract/ingest'
import type { DatasetName, JsonValue, SourceRecord } from '../connector.ts'

/** One line of an upload, with the hash by which an unchanged record is recognised later. */
export type Line = {
  readonly sourceId: string
  readonly json: string
  readonly hash: string
  /** By which a complete list tells the service what it should have; '' where the record does not fit the contract. */
  readonly listHash: string
  readonly bytes: number
  readonly bearsOn: readonly string[]
}

/**
 * The record as the one text that stands for it, whatever the order in which its attributes were put together: the canonical one, by which the
 * service knows an unchanged record without reading it. `contract`: the number of the contract that the service knows; what came later is not sent.
 */
export function lineOf(dataset: DatasetName, record: SourceRecord, contract = contractNumber): Line {
  const { source_id: sourceId, bearsOn = [] } = record
  const attributes = attributesAt(dataset, contract, record.attributes)
  const sortedText = JSON.stringify(sorted(attributes))
  const canonicalText = canonicalOf(dataset, attributes)
  // A canonical text of another length lacks what the contract does not know. The service is to refuse that, and say why.
  const sent = canonicalText?.length === sortedText.length ? canonicalText : sortedText
  const json = `{"source_id":${JSON.stringify(sourceId)},"attributes":${sent}}`
  const bytes = Buffer.byteLength(json) + 1
  const hash = hashOf(sourceId, sortedText, bearsOn)
  return { sourceId, json, hash, listHash: listHashOf(canonicalText), bytes, bearsOn }
}

/** The lines as they go over the wire. */
export function packLines(lines: readonly Line[]): Uint8Array {
  return gzipSync(lines.map((line) => `${line.json}\n`).join(''), { level: 6 })
}

/** The inverse of `packLines`, for an upload that was kept before the process died. */
export function unpackLines(
  dataset: DatasetName,
  body: Uint8Array,
  bearsOnByLine: readonly (readonly string[])[],
  contract = contractNumber,
): Line[] {
  return gunzipSync(body)
    .toString('utf8')
    .split('\n')
    .filter((json) => json !== '')
    .map((json, index) => {
      const record: SourceRecord = { ...JSON.parse(json), bearsOn: bearsOnByLine[index] ?? [] }
      return { ...lineOf(dataset, record, contract), json, bytes: Buffer.byteLength(json) + 1 }
    })
}

/** Runs of lines that each fit an upload. A line that alone is too long is a run of its own. */
export function* batches(lines: readonly Line[], limits: { linesMax: number; bytesMax: number }): Generator<Line[]> {
  let batch: Line[] = []
  let bytes = 0
  for (const line of lines) {
    if (batch.length > 0 && (batch.length === limits.linesMax || bytes + line.bytes > limits.bytesMax)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(line)
    bytes += line.bytes
  }
  if (batch.length > 0) yield batch
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  )
}

/**
 * 128 bits: no two versions of a record meet by chance, and a million records' hashes take little room. Of the attributes in the order of their
 * names, as kept hashes are: of another text, every record would seem changed once.
 */
function hashOf(sourceId: string, sortedText: string, bearsOn: readonly string[]): string {
  const json = `{"source_id":${JSON.stringify(sourceId)},"attributes":${sortedText}}`
  return createHash('sha256')
    .update([json, ...bearsOn].join('\n'))
    .digest('base64')
    .slice(0, 22)
}

/** The service keeps the same hash of what it has: of the canonical text, which both sides make by the contract. */
function listHashOf(canonicalText: string | undefined): string {
  if (canonicalText === undefined) return ''
  return createHash('sha256').update(canonicalText).digest('hex').slice(0, listHashLength)
}

/** Undefined: what does not fit the contract has no canonical text; the service will refuse it and say why. */
function canonicalOf(dataset: DatasetName, attributes: SourceRecord['attributes']): string | undefined {
  try {
    return canonicalByDataset.get(dataset)?.(attributes)
  } catch {
    return undefined
  }
}

/** The attributes as a service that knows this number of the contract takes them. */
function attributesAt(dataset: DatasetName, contract: number, attributes: SourceRecord['attributes']) {
  const made = attributesByContract.get(dataset)?.[Math.min(contract, contractNumber) - 1]?.(attributes)
  // Members are left out of what is JSON, so JSON is left.
  return (made ?? attributes) as SourceRecord['attributes']
}

const attributesByContract = new Map(
  datasets.map((dataset) => [
    dataset.name,
    Array.from({ length: contractNumber }, (_, index) => sourceAt(dataset, index + 1)),
  ]),
)

const canonicalByDataset = new Map<string, (attributes: unknown) => string>(
  datasets.map((dataset) => [dataset.name, canonicalSource(dataset)]),
)
