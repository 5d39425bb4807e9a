/** Where the source id ends of a line that is written as our agent writes it; -1 of any other line. The line begins at `from`. */
export function sourceIdEnd(bytes: Buffer, from: number): number {
  if (!hasAt(bytes, from, begin)) return -1
  const first = from + begin.length
  let end = first
  while (isPlain[bytes[end] ?? 0] === 1) end += 1
  const length = end - first
  return length === 0 || length > sourceIdLengthMax || !hasAt(bytes, end, middle) ? -1 : end
}

/** The source id that ends where `sourceIdEnd` says. */
export function sourceIdAt(bytes: Buffer, from: number, end: number): string {
  return bytes.toString('latin1', from + begin.length, end)
}

/** The attributes' text of such a line. */
export function attributesOf(line: Buffer, end: number): Buffer {
  return line.subarray(end + middle.length, -1)
}

/** The line as our agent writes it. */
export function lineOf(sourceId: string, source: string): string {
  return `${begin}${sourceId}${middle}${source}}`
}

/** A loop over so few bytes takes less time than a call of Buffer's own. */
function hasAt(bytes: Buffer, from: number, text: Buffer): boolean {
  for (let index = 0; index < text.length; index += 1) if (bytes[from + index] !== text[index]) return false
  return true
}

const begin = Buffer.from('{"source_id":"')
const middle = Buffer.from('","attributes":')
/** Printable ASCII in which nothing is escaped. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) => Number(/[ !#-[\]-~]/.test(String.fromCharCode(byte))))
const sourceIdLengthMax = 255
