import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import type { JsonValue } from '../connector.ts'
import { isObject } from './mapping-fields.ts'

/** One row of a file, and the line on which it begins. */
export type Row = { readonly line: number; readonly cells: Cells }
export type Cells = (column: string) => JsonValue | undefined

/** What is wrong with a file, without any of its values. `column` and `line` where they are known. */
export type FileFault = {
  readonly file: string
  readonly line: number | null
  readonly column: string | null
  readonly rule: string
}

/** Why a file cannot be read on. */
export class UnreadableFile extends Error {
  readonly fault: FileFault

  constructor(fault: FileFault) {
    super(faultText(fault))
    this.fault = fault
  }
}

export function faultText({ file, line, column, rule }: FileFault): string {
  const position = [file, line === null ? null : `line ${line}`, column === null ? null : `column "${column}"`]
  return `${position.filter((part) => part !== null).join(', ')}: ${rule}.`
}

export type FileFormat = {
  readonly format: 'csv' | 'ndjson'
  readonly delimiter: string
  readonly encoding: 'utf-8' | 'windows-1252'
  /** The columns that the mapping names: each must be in the file's header, once. */
  readonly columns: readonly string[]
}

/** What is known of a file's content once it was read to its end. `endsLine`: a line end follows its last line. */
export type Content = { readonly hash: Hash; endsLine: boolean }

export function noContent(): Content {
  return { hash: createHash('sha256'), endsLine: true }
}

/**
 * The rows of a file, one after the other, in flat memory. A row that cannot be read comes as a fault, and the rest goes on where that is
 * possible; else it throws `UnreadableFile`. `content` is told every byte.
 */
export async function* readRows(
  path: string,
  file: string,
  format: FileFormat,
  content: Content = noContent(),
): AsyncGenerator<Row | FileFault> {
  const text = decoded(path, file, format.encoding, content)
  if (format.format === 'ndjson') yield* readNdjson(text, file)
  else yield* readCsv(text, file, format)
}

export function isFault(row: Row | FileFault): row is FileFault {
  return 'rule' in row
}

/** The file's text, without its byte order mark and with line feeds alone, so that lines are counted once. An error for a byte that the encoding does not know names its line. */
async function* decoded(path: string, file: string, encoding: string, content: Content): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let line = 1
  let isFirst = true
  let carriage = ''
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    content.hash.update(chunk)
    if (isFirst && ((chunk[0] === 0xff && chunk[1] === 0xfe) || (chunk[0] === 0xfe && chunk[1] === 0xff))) {
      throw new UnreadableFile({ file, line: null, column: null, rule: 'is UTF-16; let it be exported as UTF-8' })
    }
    isFirst = false
    let text: string
    try {
      text = decoder.decode(chunk, { stream: true })
    } catch {
      throw notInEncoding(file, line + lineOfBadByte(chunk), encoding)
    }
    line += countBreaks(text)
    if (text !== '') content.endsLine = /[\r\n]$/.test(text)
    const whole = carriage + text
    carriage = whole.endsWith('\r') ? '\r' : ''
    yield whole.slice(0, whole.length - carriage.length).replaceAll('\r\n', '\n')
  }
  try {
    yield carriage + decoder.decode()
  } catch {
    throw notInEncoding(file, line, encoding)
  }
}

function notInEncoding(file: string, line: number, encoding: string): UnreadableFile {
  const hint = encoding === 'utf-8' ? '; if other letters look right in Notepad, set encoding = "windows-1252"' : ''
  return new UnreadableFile({ file, line, column: null, rule: `is not valid ${encoding}${hint}` })
}

/** How many lines into a chunk the first byte lies that is no UTF-8. */
function lineOfBadByte(chunk: Buffer): number {
  const lenient = new TextDecoder('utf-8').decode(chunk)
  const at = lenient.indexOf('\ufffd')
  return countBreaks(at < 0 ? lenient : lenient.slice(0, at))
}

function countBreaks(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

async function* readCsv(
  text: AsyncIterable<string>,
  file: string,
  format: FileFormat,
): AsyncGenerator<Row | FileFault> {
  const parser = parse({
    delimiter: format.delimiter,
    info: true,
    relax_column_count: true,
    max_record_size: 4 * 1024 * 1024,
  })
  const failed = feed(text, parser)
  let positions: ReadonlyMap<string, number> | null = null
  let width = 0
  let line = 1
  try {
    // With `info`, a record comes with the number of lines that it ended on.
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const begun = line
      line = info.lines + 1
      if (record.length === 1 && record[0]?.trim() === '') continue
      if (positions === null) {
        width = record.length
        positions = readHeader(record, file, begun, format.columns)
        continue
      }
      if (record.length !== width) {
        yield { file, line: begun, column: null, rule: `has ${record.length} fields, and the header has ${width}` }
        continue
      }
      const known = positions
      yield { line: begun, cells: (column) => record[known.get(column) ?? -1] }
    }
  } catch (error) {
    // The system's own error is no fault of a line: the file cannot be read.
    if (error instanceof UnreadableFile || (error instanceof Error && 'syscall' in error)) throw error
    // A mark that is never closed was opened on the line after the last row; the parser stands at the file's end.
    const isOpen = error instanceof Error && 'code' in error && error.code === 'CSV_QUOTE_NOT_CLOSED'
    const at = !isOpen && error instanceof Error && 'lines' in error ? Number(error.lines) : line
    throw new UnreadableFile({ file, line: at, column: null, rule: csvRule(error) })
  } finally {
    parser.destroy()
  }
  await failed
  if (positions === null)
    throw new UnreadableFile({ file, line: 1, column: null, rule: 'is empty, without even a header' })
}

/** Writes the text to the parser at the parser's pace; what goes wrong in reading it comes out of the parser. */
async function feed(text: AsyncIterable<string>, parser: ReturnType<typeof parse>): Promise<void> {
  try {
    for await (const part of text) {
      if (parser.destroyed) return
      if (!parser.write(part)) await new Promise((resolve) => parser.once('drain', resolve).once('close', resolve))
    }
    parser.end()
  } catch (error) {
    parser.destroy(error instanceof Error ? error : new Error('unknown'))
  }
}

function readHeader(header: string[], file: string, line: number, columns: readonly string[]): Map<string, number> {
  const names = header.map((name) => name.trim())
  for (const column of columns) {
    const rule = names.includes(column)
      ? names.indexOf(column) === names.lastIndexOf(column)
        ? null
        : 'is in the header twice'
      : `is not in the header, which has: ${names.join(', ')}`
    if (rule !== null) throw new UnreadableFile({ file, line, column, rule })
  }
  return new Map(names.map((name, index) => [name, index]))
}

/** The parser's own message quotes the file, so only its code is reported. */
function csvRule(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'has a quotation mark that is never closed'
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'has something between a closing quotation mark and the next delimiter; check the delimiter'
    case 'INVALID_OPENING_QUOTE':
      return 'has a quotation mark within a field that does not begin with one'
    case 'CSV_MAX_RECORD_SIZE':
      return 'is longer than 4 MB; check for a quotation mark that is never closed'
    default:
      return `cannot be read (${code || 'unknown reason'})`
  }
}

async function* readNdjson(text: AsyncIterable<string>, file: string): AsyncGenerator<Row | FileFault> {
  let rest = ''
  let line = 0
  const read = function* (lines: string[]): Generator<Row | FileFault> {
    for (const each of lines) {
      line += 1
      if (each.trim() !== '') yield readObject(each, file, line)
    }
  }
  for await (const part of text) {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    yield* read(lines)
  }
  yield* read([rest])
}

function readObject(text: string, file: string, line: number): Row | FileFault {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { file, line, column: null, rule: 'is not valid JSON' }
  }
  if (!isObject(value)) return { file, line, column: null, rule: 'must be a JSON object' }
  const object = value
  return {
    line,
    cells: (column) => {
      const found = column
        .split('.')
        .reduce<unknown>(
          (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
          object,
        )
      // What JSON.parse gives is JSON.
      return found as JsonValue | undefined
    },
  }
}
