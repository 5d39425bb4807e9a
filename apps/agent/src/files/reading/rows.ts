import type { JsonValue } from '../../connector.ts'
import { type FileFault, UnreadableFile } from '../fault.ts'
import { isObject } from '../mapping/mapping-fields.ts'
import { type CsvFault, type CsvRow, type Quotes, readCsv } from './csv.ts'
import { type Positions, readFixedWidth } from './fixed-width.ts'
import { type Content, readText } from './text.ts'

/** One row of a file, and the line on which it begins. */
export type Row = { readonly line: number; readonly cells: Cells }
export type Cells = (column: string) => JsonValue | undefined

export type FileFormat = {
  readonly format: 'csv' | 'ndjson'
  readonly delimiter: string
  readonly quotes: Quotes
  /** Of a file whose columns have places in the line instead of delimiters: these, in the order of `header`. */
  readonly positions: readonly Positions[] | null
  /** A label that `textDecoder` takes; null: as the file's mark or content says. */
  readonly encoding: string | null
  /** Lines before the header; null: the header is the first row that has every column. */
  readonly skipLines: number | null
  /** The names of the columns of a file without a header. */
  readonly header: readonly string[] | null
  /** How many rows at the end are not records. */
  readonly footerRows: number
  /** Rows whose first text begins with one of these are not records. */
  readonly skipStarting: readonly string[]
  readonly shortRows: 'refuse' | 'fill'
  /** Texts that mean an empty value in every column. */
  readonly nullWords: readonly string[]
  /** Only rows that meet all of these are read. */
  readonly where: readonly Condition[]
}

/** `isOneOf`: the text of the column must be one of `texts`; otherwise it must differ from all of them. */
export type Condition = { readonly column: string; readonly isOneOf: boolean; readonly texts: readonly string[] }

/** The header must be among the first rows. */
const headerRowsMax = 50

/**
 * The rows of a file, one after the other, in flat memory. A row that cannot be read comes as a fault, and the rest goes on; what concerns the
 * whole file throws `UnreadableFile`. `columns`: those that the mapping names, each must be in the header, once.
 */
export async function* readRows(
  { path, name }: { readonly path: string; readonly name: string },
  format: FileFormat,
  columns: readonly string[],
  content?: Content,
): AsyncGenerator<Row | FileFault> {
  const text = readText(path, name, format.encoding, content)
  const rows = format.format === 'ndjson' ? readNdjson(text, name) : readTable(text, name, format, columns)
  const nullWords = new Set(format.nullWords)
  for await (const row of rows) {
    if (isFault(row)) yield row
    else {
      const cells = nullWords.size === 0 ? row.cells : withoutNullWords(row.cells, nullWords)
      if (format.where.every((condition) => fulfils(cells, condition))) yield { line: row.line, cells }
    }
  }
}

export function isFault(row: Row | FileFault): row is FileFault {
  return 'rule' in row
}

/** The cells, empty where one of these words stands. */
export function withoutNullWords(cells: Cells, words: ReadonlySet<string>): Cells {
  return (column) => {
    const cell = cells(column)
    return typeof cell === 'string' && words.has(cell.trim()) ? null : cell
  }
}

function fulfils(cells: Cells, { column, isOneOf, texts }: Condition): boolean {
  return texts.includes(String(cells(column) ?? '').trim()) === isOneOf
}

async function* readTable(
  text: AsyncIterable<string>,
  file: string,
  format: FileFormat,
  columns: readonly string[],
): AsyncGenerator<Row | FileFault> {
  const faultOf = ({ line, rule }: CsvFault): FileFault => ({ file, line, column: null, rule })
  let header = format.header === null ? null : headerOf(format.header, { file, line: 1, columns })
  const before: CsvRow[] = []
  const rows = format.positions === null ? readCsv(text, format) : readFixedWidth(text, format.positions)
  for await (const row of withoutFooter(rows, format.footerRows)) {
    if (row.line <= (format.skipLines ?? 0)) continue
    if ('rule' in row) {
      // Titles above a table need not be rows.
      if (header !== null || format.skipLines !== null) yield faultOf(row)
      continue
    }
    const first = (row.text ?? row.fields.find((field) => field.trim() !== ''))?.trim()
    if (first === undefined || first === '') continue
    if (header === null) {
      if (before.length < headerRowsMax) before.push(row)
      const isHeader = format.skipLines !== null || hasAll(row.fields, columns)
      if (isHeader) header = headerOf(row.fields, { file, line: row.line, columns })
      else if (before.length === headerRowsMax) break
      continue
    }
    if (format.skipStarting.some((start) => first.startsWith(start)) || header.isAgain(row.fields)) continue
    const fields = header.fit(row.fields, format.shortRows)
    if (fields === null) {
      yield faultOf({ line: row.line, rule: `has ${row.fields.length} fields, and the header has ${header.width}` })
      continue
    }
    const { positions } = header
    yield { line: row.line, cells: (column) => fields[positions.get(column) ?? -1] }
  }
  if (header !== null) return
  const [top] = before
  if (top === undefined)
    throw new UnreadableFile({ file, line: 1, column: null, rule: 'is empty, without even a header' })
  headerOf(top.fields, { file, line: top.line, columns })
}

function hasAll(fields: readonly string[], columns: readonly string[]): boolean {
  const names = new Set(fields.map((field) => field.trim()))
  return columns.every((column) => names.has(column))
}

/** The rows without the last ones, whatever they are. */
async function* withoutFooter<T>(rows: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  const held: T[] = []
  for await (const row of rows) {
    held.push(row)
    if (held.length > count) yield held.shift() as T
  }
}

type Header = {
  readonly width: number
  readonly positions: ReadonlyMap<string, number>
  /** Reports repeat their header on each page. */
  isAgain(fields: readonly string[]): boolean
  /** The row's fields; null: it has another number of them. Empty ones at the end do not count. */
  fit(fields: readonly string[], shortRows: 'refuse' | 'fill'): readonly string[] | null
}

function headerOf(
  fields: readonly string[],
  { file, line, columns }: { file: string; line: number; columns: readonly string[] },
): Header {
  const all = fields.map((name) => name.trim())
  const names = all.slice(0, all.findLastIndex((name) => name !== '') + 1)
  for (const column of columns) {
    const rule = names.includes(column)
      ? names.indexOf(column) === names.lastIndexOf(column)
        ? null
        : 'is in the header twice'
      : missingColumn(names, columns)
    if (rule !== null) throw new UnreadableFile({ file, line, column, rule })
  }
  const width = names.length
  return {
    width,
    positions: new Map(names.map((name, index) => [name, index])),
    isAgain: (row) => row.length >= width && names.every((name, index) => row[index]?.trim() === name),
    fit: (row, shortRows) => {
      const isFilled = row.length >= width || shortRows === 'fill'
      return isFilled && row.slice(width).every((field) => field.trim() === '') ? row : null
    },
  }
}

/** The header is shown where it is one: a file without a header would show its first record. */
function missingColumn(names: readonly string[], columns: readonly string[]): string {
  const isHeader = columns.some((column) => names.some((name) => name.includes(column)))
  return isHeader
    ? `is not in the header, which has: ${names.join(', ')}`
    : 'is not in the first row; if the file has no header, name its columns with "header"'
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

/** A number of 16 digits may be larger than 2^53, so JavaScript would round it: a key would become another key. */
const longDigits = /\d{16}/

/** Keeps the text of a whole number that is too large (https://tc39.es/proposal-json-parse-with-source/). */
function exactNumber(_name: string, value: unknown, context?: { source?: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value
}

function readObject(text: string, file: string, line: number): Row | FileFault {
  let value: unknown
  try {
    value = JSON.parse(text, longDigits.test(text) ? exactNumber : undefined)
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
