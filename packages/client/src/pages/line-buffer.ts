import { createGrowingBuffer } from './growing-buffer.ts'

/** Lines of JSON one after the other. The memory in which they are gathered is used again; what is given of them is not in it. */
export type LineBuffer = {
  append: (bytes: Uint8Array) => void
  /** What was appended after the last whole line, until more is. */
  unfinished: () => Uint8Array
  /** What was appended is a whole line, with its newline. */
  finishLine: () => void
  count: () => number
  /** The id of the record in the last whole line. */
  lastId: () => string
  /** The whole lines, without their newlines, in memory that nothing else is in. */
  records: () => Uint8Array[]
  /** The whole lines, parsed at once. Nothing but `dropLines` may follow. */
  parse: <Item>() => Item[]
  /** Forgets the whole lines. */
  dropLines: () => void
}

export function createLineBuffer(): LineBuffer {
  const lines = createGrowingBuffer()
  let ends: number[] = []
  const end = () => ends.at(-1) ?? 0
  return {
    append: lines.append,
    unfinished: () => lines.bytes().subarray(end()),
    finishLine() {
      ends.push(lines.bytes().length)
    },
    count: () => ends.length,
    lastId: () => String(JSON.parse(lines.bytes().toString('utf8', ends.at(-2) ?? 0, end())).id),
    records() {
      // A program may ask for the next pages before it has used these.
      const copy = Buffer.from(lines.bytes().subarray(0, end()))
      return ends.map((each, index) => copy.subarray(ends[index - 1] ?? 0, each - 1))
    },
    parse() {
      // A list of them: one text, and one call of the parser.
      const bytes = lines.bytes()
      for (const each of ends) bytes[each - 1] = 0x2c
      return JSON.parse(`[${bytes.toString('utf8', 0, Math.max(0, end() - 1))}]`)
    },
    dropLines() {
      lines.drop(end())
      ends = []
    },
  }
}
