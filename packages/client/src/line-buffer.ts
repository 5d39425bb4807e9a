import { createGrowingBuffer } from './growing-buffer.ts'

/** Lines of JSON one after the other, in memory that is used again. */
export type LineBuffer = {
  append: (bytes: Uint8Array) => void
  /** What was appended after the last whole line. */
  unfinished: () => Uint8Array
  /** What was appended is a whole line, with its newline. */
  finishLine: () => void
  count: () => number
  /** The id of the record in the last whole line. */
  lastId: () => string
  /** The whole lines, without their newlines. */
  records: () => Uint8Array[]
  /** The whole lines, parsed at once. */
  parse: <Item>() => Item[]
  clear: () => void
}

export function createLineBuffer(): LineBuffer {
  const lines = createGrowingBuffer(64 * 1024)
  let ends: number[] = []
  const end = () => ends.at(-1) ?? 0
  const records = () => ends.map((each, index) => lines.bytes().subarray(ends[index - 1] ?? 0, each - 1))
  return {
    append: lines.append,
    unfinished: () => lines.bytes().subarray(end()),
    finishLine() {
      ends.push(lines.bytes().length)
    },
    count: () => ends.length,
    lastId: () => String(JSON.parse(lines.bytes().toString('utf8', ends.at(-2) ?? 0, end())).id),
    records,
    parse() {
      // A list of them: one text, and one call of the parser.
      const bytes = lines.bytes()
      for (const each of ends) bytes[each - 1] = 0x2c
      return JSON.parse(`[${bytes.toString('utf8', 0, Math.max(0, end() - 1))}]`)
    },
    clear() {
      lines.clear()
      ends = []
    },
  }
}
