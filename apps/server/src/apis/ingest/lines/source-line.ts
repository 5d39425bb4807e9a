/** The key and the attributes' text of a line that is written as our agent writes it; null of any other line. */
export function partsOf(line: Buffer): { sourceId: string; attributes: Buffer } | null {
  if (!hasAt(line, 0, begin) || line[line.length - 1] !== closeBrace) return null
  let end = begin.length
  while (isPlain[line[end] ?? 0] === 1) end += 1
  const length = end - begin.length
  if (length === 0 || length > sourceIdLengthMax || !hasAt(line, end, middle)) return null
  return {
    sourceId: line.toString('latin1', begin.length, end),
    attributes: line.subarray(end + middle.length, -1),
  }
}

/** The line as our agent writes it. */
export function lineOf(sourceId: string, source: string): string {
  return `${begin}${sourceId}${middle}${source}}`
}

/** For fewer bytes a loop takes less time than a call of Buffer. */
function hasAt(bytes: Buffer, from: number, text: Buffer): boolean {
  for (let index = 0; index < text.length; index += 1) if (bytes[from + index] !== text[index]) return false
  return true
}

const begin = Buffer.from('{"source_id":"')
const middle = Buffer.from('","attributes":')
const closeBrace = 0x7d
/** Printable ASCII in which nothing is escaped. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) => Number(/[ !#-[\]-~]/.test(String.fromCharCode(byte))))
const sourceIdLengthMax = 255
