import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { UnreadableFile } from '../fault.ts'
import { textDecoder } from './encoding.ts'

/** What is known of a file's content once it was read to its end. `endsLine`: a line end follows its last line. */
export type Content = { readonly hash: Hash; endsLine: boolean }

export function noContent(): Content {
  return { hash: createHash('sha256'), endsLine: true }
}

/**
 * The file's text, without its byte order mark and with line feeds alone, so that lines are counted once. `encoding`: a label that `textDecoder`
 * takes; null: UTF-16 or UTF-8 as its mark or its first bytes say. A mark counts more than the setting. Throws an
 * `UnreadableFile` that names the line of a byte that the encoding does not know.
 */
export async function* readText(
  path: string,
  file: string,
  encoding: string | null,
  content: Content = noContent(),
): AsyncGenerator<string> {
  let decoder: ReturnType<typeof textDecoder> | undefined
  let line = 1
  const unify = unifyLineEnds()
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    content.hash.update(chunk)
    decoder ??= textDecoder(markOf(chunk) ?? encoding ?? utf16Of(chunk) ?? 'utf-8')
    let text: string
    try {
      text = decoder.decode(chunk, { stream: true })
    } catch {
      throw notInEncoding(file, line + lineOfBadByte(chunk, decoder.encoding), decoder.encoding)
    }
    line += countBreaks(text)
    // Control-Z ends a file of DOS.
    if (text !== '') content.endsLine = ['\n', '\r', '\u001a'].includes(text.at(-1) ?? '')
    yield unify(text)
  }
  try {
    yield unify(decoder?.decode() ?? '', true)
  } catch {
    throw notInEncoding(file, line, decoder?.encoding ?? 'utf-8')
  }
}

/**
 * Line feeds in the place of CRLF, or of single carriage returns where the file's first line ends with one: elsewhere they are part of a text.
 * A carriage return at the end of a part waits for the next one.
 */
function unifyLineEnds(): (text: string, isLast?: boolean) => string {
  let carriage = ''
  let isSingle: boolean | null = null
  return (text, isLast = false) => {
    const whole = carriage + text
    carriage = !isLast && whole.endsWith('\r') ? '\r' : ''
    const part = whole.slice(0, whole.length - carriage.length)
    isSingle ??= firstIsSingle(part)
    const lines = part.replaceAll('\r\n', '\n')
    return isSingle === true ? lines.replaceAll('\r', '\n') : lines
  }
}

function firstIsSingle(text: string): boolean | null {
  const at = text.search(/[\r\n]/)
  return at < 0 ? null : text[at] === '\r' && text[at + 1] !== '\n'
}

function markOf(bytes: Buffer): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
}

const bytesLookedAt = 4096
/** Text of our alphabets in UTF-16 has a zero in nearly every second byte, and none in the others. */
const zeroShareMin = 0.4

/** UTF-16 without a mark, as some programs on Windows write it. */
function utf16Of(bytes: Buffer): string | null {
  const start = bytes.subarray(0, bytesLookedAt)
  const zeros = [0, 0]
  for (const [index, byte] of start.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros.map((count) => count / (start.length / 2 || 1))
  if (odd >= zeroShareMin && even < zeroShareMin / 10) return 'utf-16le'
  return even >= zeroShareMin && odd < zeroShareMin / 10 ? 'utf-16be' : null
}

function notInEncoding(file: string, line: number, encoding: string): UnreadableFile {
  const hint =
    encoding === 'utf-8'
      ? '; set its encoding: "windows-1252" in America and Western Europe, "windows-1250" in Central Europe'
      : ''
  return new UnreadableFile({ file, line, column: null, rule: `is not valid ${encoding}${hint}` })
}

/** How many lines into a chunk the first byte lies that the encoding does not know. */
function lineOfBadByte(chunk: Buffer, encoding: string): number {
  const lenient = new TextDecoder(encoding).decode(chunk)
  const at = lenient.indexOf('\ufffd')
  return countBreaks(at < 0 ? lenient : lenient.slice(0, at))
}

function countBreaks(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
