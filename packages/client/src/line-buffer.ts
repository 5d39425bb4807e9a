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
  let bytes = Buffer.allocUnsafeSlow(64 * 1024)
  let length = 0
  let ends: number[] = []
  const end = () => ends.at(-1) ?? 0
  const records = () => ends.map((each, index) => bytes.subarray(ends[index - 1] ?? 0, each - 1))
  return {
    append(more) {
      if (length + more.length > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (length + more.length))
        bytes.copy(larger, 0, 0, length)
        bytes = larger
      }
      bytes.set(more, length)
      length += more.length
    },
    unfinished: () => bytes.subarray(end(), length),
    finishLine() {
      ends.push(length)
    },
    count: () => ends.length,
    lastId: () => String(JSON.parse(bytes.toString('utf8', ends.at(-2) ?? 0, end())).id),
    records,
    parse() {
      // A list of them: one text, and one call of the parser.
      for (const each of ends) bytes[each - 1] = 0x2c
      return JSON.parse(`[${bytes.toString('utf8', 0, Math.max(0, end() - 1))}]`)
    },
    clear() {
      length = 0
      ends = []
    },
  }
}
