import { Problem } from '../../../platform/errors/problem.ts'
import { isWithin, type JsonBounds } from '../../../platform/http/body/json-bounds.ts'
import { decodeUtf8 } from './body.ts'

export type LineBounds = JsonBounds & { linesMax: number; lineBytesMax: number }

/**
 * Splits a body into its lines while it arrives, which waits for what `take` promises. A line that is too long, or one too many, throws body_too_large. A line feed at the end begins no
 * further line.
 */
export async function takeLines(
  pieces: AsyncIterable<Buffer>,
  bounds: Pick<LineBounds, 'linesMax' | 'lineBytesMax'>,
  { take }: { take: (line: Buffer, number: number) => Promise<void> | void },
): Promise<void> {
  let number = 0
  let begun: Buffer[] = []
  let begunBytes = 0
  const end = (last: Buffer) => {
    const line = begun.length === 0 ? last : Buffer.concat([...begun, last])
    begun = []
    begunBytes = 0
    number += 1
    if (number > bounds.linesMax) throw tooLarge(`The body has too many lines: at most ${bounds.linesMax}.`)
    return take(line, number)
  }
  for await (const piece of pieces) {
    let from = 0
    for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, from)) {
      const taken = end(piece.subarray(from, at))
      if (taken) await taken
      from = at + 1
    }
    begunBytes += piece.length - from
    if (begunBytes > bounds.lineBytesMax) {
      throw tooLarge(`Line ${number + 1} is too long: at most ${bounds.lineBytesMax / 2 ** 20} MiB.`)
    }
    if (from < piece.length) begun.push(piece.subarray(from))
  }
  if (begunBytes > 0) await end(Buffer.alloc(0))
}

/** A line's text. Throws record_invalid, with its number, when it has too many members or levels: its bytes alone are looked at. */
export function textOf(line: Buffer, number: number, bounds: JsonBounds): string {
  if (isWithin(line, bounds)) return decodeUtf8(line)
  const errors = `Line ${number}: the line has too many members or levels.`
  throw new Problem('record_invalid', { errors, members: { line: number, field: null } })
}

const lineFeed = 0x0a

function tooLarge(errors: string): Problem {
  return new Problem('body_too_large', { errors })
}
