import { Problem } from '../../platform/errors/problem.ts'
import { isWithin, type JsonBounds } from '../../platform/http/json-bounds.ts'
import { decodeUtf8 } from './body.ts'

export type LineBounds = JsonBounds & { linesMax: number; lineBytesMax: number }

/** Gets the lines of a body. */
export type LineReader = {
  /**
   * A whole line, and the bytes that it is a part of: what is between two lines that follow each other in the same bytes is their line feed. The body
   * waits for what this promises.
   */
  take: (line: Buffer, number: number, within: Buffer) => Promise<void> | void
  /** A piece that is not read any more: of a line or a run that ends in a later piece there is a copy. */
  passed?: (piece: Buffer) => Promise<void> | void
  runs?: LineRuns
}

/** Runs of lines that are known by their bytes, and so need not be split. */
export type LineRuns = {
  /** The length of a run that may begin at this byte, where a line begins, without the line feed after it; 0: there is none. */
  bytesAt: (bytes: Buffer, from: number) => number | Promise<number>
  /** Takes that run, if these are its bytes, and returns how many lines it has; 0: they are others. */
  take: (bytes: Buffer, from: number, number: number) => number
}

/**
 * Splits a body into its lines while it arrives. A line that is too long, or one too many, throws body_too_large. A line feed at the end begins no
 * further line.
 */
export async function takeLines(
  pieces: AsyncIterable<Buffer>,
  bounds: Pick<LineBounds, 'linesMax' | 'lineBytesMax'>,
  { take, passed, runs }: LineReader,
): Promise<void> {
  let number = 0
  let begun: Buffer[] = []
  let begunBytes = 0
  /** Of the run that has begun, with the line feed after it; 0: none has. */
  let runBytes = 0
  const begin = (bytes: Buffer) => {
    if (bytes.length > 0) begun.push(Buffer.from(bytes))
    begunBytes += bytes.length
  }
  /** What has begun, with its end; null where nothing has. */
  const ended = (last: Buffer) => {
    const whole = begun.length === 0 ? null : Buffer.concat([...begun, last])
    begun = []
    begunBytes = 0
    return whole
  }
  const count = (lines: number) => {
    number += lines
    if (number > bounds.linesMax) throw tooLarge(`The body has too many lines: at most ${bounds.linesMax}.`)
  }
  /** Takes what is whole, and keeps the rest. */
  const takeFrom = async (bytes: Buffer, isLast: boolean) => {
    let from = 0
    while (from < bytes.length) {
      if (runs && begunBytes === 0) {
        const found = runs.bytesAt(bytes, from)
        const length = typeof found === 'number' ? found : await found
        if (length > 0 && from + length >= bytes.length && !isLast) {
          runBytes = length + 1
          break
        }
        const lines = length > 0 ? runs.take(bytes, from, number + 1) : 0
        if (lines > 0) {
          count(lines)
          from += length + 1
          continue
        }
      }
      const found = bytes.indexOf(lineFeed, from)
      if (found === -1 && !isLast) break
      const at = found === -1 ? bytes.length : found
      count(1)
      const line = bytes.subarray(from, at)
      const joined = ended(line)
      const taken = take(joined ?? line, number, joined ?? bytes)
      if (taken) await taken
      from = at + 1
    }
    begin(bytes.subarray(from))
  }
  for await (const piece of pieces) {
    let rest = piece
    // The lines of a run that turns out to be another may hold the beginning of the next one, which ends further on.
    while (runBytes > begunBytes && runBytes - begunBytes <= rest.length) {
      const missing = runBytes - begunBytes
      runBytes = 0
      const run = rest.subarray(0, missing)
      await takeFrom(ended(run) ?? run, false)
      rest = rest.subarray(missing)
    }
    if (runBytes > 0) begin(rest)
    else {
      await takeFrom(rest, false)
      if (begunBytes > bounds.lineBytesMax && runBytes === 0) {
        throw tooLarge(`Line ${number + 1} is too long: at most ${bounds.lineBytesMax / 2 ** 20} MiB.`)
      }
    }
    const passing = passed?.(piece)
    if (passing) await passing
  }
  await takeFrom(ended(Buffer.alloc(0)) ?? Buffer.alloc(0), true)
}

/** A line's text. Throws record_invalid, with its number, when it has too many members or levels: its bytes alone are looked at. */
export function textOf(line: Buffer, number: number, bounds: JsonBounds): string {
  if (isWithin(line, bounds)) return decodeUtf8(line)
  const errors = `Line ${number}: the line has too many members or levels.`
  throw new Problem('record_invalid', { errors, members: { line: number, field: null } })
}

export const lineFeed = 0x0a

function tooLarge(errors: string): Problem {
  return new Problem('body_too_large', { errors })
}
