import type { Dataset } from '@bridgework/contract'
import { canonicalSource, recordLines } from '@bridgework/contract/ingest'
import { Compile } from 'typebox/compile'
import type { UploadLine } from '../../../modules/records/write/upload.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { explainMismatch, type Mismatch } from '../../../platform/http/body/mismatch.ts'
import { hasNul } from '../../../platform/http/body/nul.ts'

/** Reads one line. Throws `record_invalid` with its number, the field and the rule, in its text and as members; never the value. */
export type ReadLine = (text: string, number: number) => UploadLine

/** Compiled once for a dataset, because an upload has up to 10,000 lines. */
export function createLineReader(dataset: Dataset): ReadLine {
  const { upsert, removal } = recordLines(dataset)
  const upsertCheck = Compile(upsert)
  const removalCheck = Compile(removal)
  const canonical = canonicalSource(dataset)
  const readLine = (text: string): UploadLine | Mismatch => {
    const line = parseJson(text)
    if (line === undefined) return { field: null, errors: 'the line is not valid JSON.' }
    if (removalCheck.Check(line)) return { sourceId: line.source_id, source: null }
    if (!upsertCheck.Check(line)) {
      const isRemoval = typeof line === 'object' && line !== null && 'removed' in line
      return explainMismatch(isRemoval ? removal : upsert, line)
    }
    const source = canonical(line.attributes)
    // JSON.stringify writes half a surrogate pair, and nothing else, as a lower-case \ud escape.
    if ((source.includes('\\ud') && halfPair.test(source)) || !line.source_id.isWellFormed())
      return { field: null, errors: 'the line holds text that is not well-formed Unicode.' }
    if (hasNul(source)) return nulIn(line.attributes)
    return { sourceId: line.source_id, source }
  }
  return (text, number) => {
    const line = readLine(text)
    if ('errors' in line) throw invalid(number, line)
    return line
  }
}

/** An even number of backslashes before it. */
const halfPair = /(?<!\\)(?:\\\\)*\\ud/

/** Names the attribute with U+0000, never its value. */
function nulIn(attributes: object): Mismatch {
  const name = Object.entries(attributes).find(([, value]) => hasNul(JSON.stringify(value)))?.[0]
  const field = name === undefined ? 'attributes' : `attributes.${name}`
  return { field, errors: `${field} contains the character U+0000. Leave it out.` }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The refusal of a line. */
export function invalid(line: number, { field, errors }: Mismatch): Problem {
  return new Problem('record_invalid', { errors: `Line ${line}: ${errors}`, members: { line, field } })
}
