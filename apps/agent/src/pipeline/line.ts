import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { datasets } from '@bridgework/contract'
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

/** The record as the one text that stands for it, whatever the order in which its attributes were put together. */
export function lineOf(dataset: DatasetName, record: SourceRecord): Line {
  const json = JSON.stringify({ source_id: record.source_id, attributes: sorted(record.attributes) })
  const bearsOn = record.bearsOn ?? []
  const listHash = listHashOf(dataset, record.attributes)
  const bytes = Buffer.byteLength(json) + 1
  return { sourceId: record.source_id, json, hash: hashOf(json, bearsOn), listHash, bytes, bearsOn }
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
): Line[] {
  return gunzipSync(body)
    .toString('utf8')
    .split('\n')
    .filter((json) => json !== '')
    .map((json, index) => {
      const bearsOn = bearsOnByLine[index] ?? []
      const record = JSON.parse(json) as SourceRecord
      return {
        sourceId: record.source_id,
        json,
        hash: hashOf(json, bearsOn),
        listHash: listHashOf(dataset, record.attributes),
        bytes: Buffer.byteLength(json) + 1,
        bearsOn,
      }
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

/** 128 bits: no two versions of a record meet by chance, and a million records' hashes take little room. */
function hashOf(json: string, bearsOn: readonly string[]): string {
  return createHash('sha256')
    .update([json, ...bearsOn].join('\n'))
    .digest('base64')
    .slice(0, 22)
}

/** The service keeps the same hash of what it has: of the canonical text, which both sides make by the contract. */
function listHashOf(dataset: DatasetName, attributes: SourceRecord['attributes']): string {
  try {
    const text = canonicalByDataset.get(dataset)?.(attributes) ?? ''
    return createHash('sha256').update(text).digest('hex').slice(0, listHashLength)
  } catch {
    // What does not fit the contract has no canonical text; the service will refuse it and say why.
    return ''
  }
}

const canonicalByDataset = new Map<string, (attributes: unknown) => string>(
  datasets.map((dataset) => [dataset.name, canonicalSource(dataset)]),
)
