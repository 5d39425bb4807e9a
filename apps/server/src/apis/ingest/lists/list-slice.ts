import { limits } from '@bridgework/contract'
import { sliceLines } from '@bridgework/contract/ingest'
import { Compile } from 'typebox/compile'
import { isBefore, type ListEntry } from '../../../modules/records/removals/complete-list.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { explainMismatch } from '../../../platform/http/body/mismatch.ts'
import { textOf } from '../lines/lines.ts'

const beginCheck = Compile(sliceLines.begin)
const entryCheck = Compile(sliceLines.entry)

/** Bounds of a slice's lines: a key of 255 characters, every one escaped, and its hash. */
export const sliceBounds = { linesMax: limits.sliceKeysMax + 1, lineBytesMax: 4096, depthMax: 1, membersMax: 1 }

/** Reads one slice of a complete list line by line. Throws record_invalid with the line's number, its field and the rule. */
export function createSliceReader() {
  const entries: ListEntry[] = []
  let after: string | null = null
  let last = ''
  return {
    take: (bytes: Buffer, number: number): void => {
      const line = parse(textOf(bytes, number, sliceBounds), number)
      if (number === 1) {
        if (!beginCheck.Check(line)) throw invalid(number, explainMismatch(sliceLines.begin, line))
        after = line.after ?? ''
        last = after
        return
      }
      if (!entryCheck.Check(line)) throw invalid(number, explainMismatch(sliceLines.entry, line))
      if (!isBefore(last, line.source_id)) {
        throw invalid(number, {
          field: 'source_id',
          errors: 'source_id must come after the one before it, in the order of their bytes.',
        })
      }
      last = line.source_id
      entries.push({ sourceId: line.source_id, hash: line.hash ?? null })
    },
    slice: (): { after: string; entries: readonly ListEntry[] } => {
      if (after === null) throw new Problem('record_invalid', { errors: 'The slice has no line.' })
      return { after, entries }
    },
  }
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(number, { field: null, errors: 'the line is not valid JSON.' })
  }
}

function invalid(line: number, { field, errors }: { field: string | null; errors: string }): Problem {
  return new Problem('record_invalid', { errors: `Line ${line}: ${errors}`, members: { line, field } })
}
