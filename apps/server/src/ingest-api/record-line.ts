import { commonAttributes, type Dataset } from '@bridgework/contract'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { explainMismatch } from '../http/mismatch.ts'
import { Problem } from '../http/problem.ts'
import type { UploadLine } from '../records/upload.ts'

/** Reads the lines of an upload. Throws `record_invalid` with the line's number, the field and the rule, never the value. */
export type LineReader = (lines: readonly string[]) => UploadLine[]

/** The reader of a dataset's uploads: compiled once, because an upload has up to 10,000 lines. */
export function createLineReader(dataset: Dataset): LineReader {
  const upsert = Type.Object(
    { source_id: commonAttributes.source_id, attributes: dataset.source },
    { additionalProperties: false },
  )
  const removal = Type.Object(
    { source_id: commonAttributes.source_id, removed: Type.Literal(true) },
    { additionalProperties: false },
  )
  const upsertCheck = Compile(upsert)
  const removalCheck = Compile(removal)
  const readLine = (text: string): UploadLine | string => {
    const line = parseJson(text)
    if (line === undefined) return 'is not valid JSON.'
    if (removalCheck.Check(line)) return { sourceId: line.source_id, source: null }
    if (!upsertCheck.Check(line)) {
      const isRemoval = typeof line === 'object' && line !== null && 'removed' in line
      return `: ${explainMismatch(isRemoval ? removal : upsert, line)}`
    }
    const source = JSON.stringify(canonical(dataset.source, line.attributes))
    // JSON.stringify writes half a surrogate pair, and nothing else, as a lower-case \ud escape.
    if (/(?<!\\)(?:\\\\)*\\ud/.test(source) || !line.source_id.isWellFormed())
      return 'holds text that is not well-formed Unicode.'
    return { sourceId: line.source_id, source }
  }
  return (lines) => {
    const read = new Map<string, UploadLine>()
    for (const [index, text] of lines.entries()) {
      const line = readLine(text)
      if (typeof line === 'string') throw invalid(index, line)
      if (read.has(line.sourceId)) throw invalid(index, ': source_id stands in an earlier line of this upload too.')
      read.set(line.sourceId, line)
    }
    return [...read.values()]
  }
}

/** The same value with its members in the schema's order, so that equal records have equal hashes. */
export function canonical(schema: TSchema, value: unknown): unknown {
  if (Type.IsUnion(schema)) {
    const some = schema.anyOf.find((member: TSchema) => !Type.IsNull(member))
    return value === null || !some ? value : canonical(some, value)
  }
  if (Type.IsArray(schema) && Array.isArray(value)) return value.map((item) => canonical(schema.items, item))
  if (Type.IsObject(schema)) {
    // Checked against the schema before: an object with these members and no other.
    const members = value as Record<string, unknown>
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, canonical(member, members[name])]),
    )
  }
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function invalid(index: number, rule: string): Problem {
  return new Problem('record_invalid', { errors: `Line ${index + 1}${rule.startsWith(':') ? rule : ` ${rule}`}` })
}
