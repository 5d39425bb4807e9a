import { createWriteStream, type WriteStream } from 'node:fs'
import { extname } from 'node:path'
import { finished } from 'node:stream/promises'
import type { DatasetName } from '../../dataset-resource.ts'
import type { TableColumn } from '../../stores/table.ts'
import { valueAt } from '../../stores/typed-row.ts'
import type { SyncRecord } from '../../sync/store.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'
import { parquetSink } from './pull-parquet.ts'
import { columnsOf, keyColumns, type Sink } from './pull-sink.ts'

export const formats = ['ndjson', 'csv', 'parquet'] as const
export type Format = (typeof formats)[number]

const formatOfEnding: Record<string, Format> = {
  '': 'ndjson',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'ndjson',
  '.txt': 'ndjson',
  '.csv': 'csv',
  '.parquet': 'parquet',
}

/** The format that was asked for, or that the file's name ends with, or NDJSON where it has no ending. */
export function formatOf(named: string | undefined, file = ''): Format {
  const ending = extname(file).toLowerCase()
  const format = named === undefined ? formatOfEnding[ending] : formats.find((name) => name === named)
  if (format) return format
  if (named !== undefined)
    throw new UsageError(`Unknown format ${JSON.stringify(named)}. Formats: ${formats.join(', ')}`)
  const isDatabase = /^\.(sqlite3?|db3?)$/.test(ending)
  const hint = isDatabase
    ? `For a SQLite file run: bridgework mirror --to sqlite:${file}`
    : 'For a spreadsheet use .csv with --spreadsheet. To keep this name, add --format ndjson, --format csv or --format parquet.'
  throw new UsageError(
    `pull does not write ${ending} files. End the name with .ndjson, .jsonl, .csv or .parquet. ${hint}`,
  )
}

/** Where records of a dataset go, in columns of `fields` alone when there are any. */
export async function openSink(
  format: Format,
  {
    dataset,
    fields,
    isForSpreadsheet,
  }: { dataset: DatasetName; fields: readonly string[] | undefined; isForSpreadsheet: boolean },
  file: string | undefined,
  stdout: Context['stdout'],
): Promise<Sink> {
  const columns = columnsOf(dataset, fields)
  if (format === 'parquet') {
    if (file === undefined) throw new UsageError('Parquet needs a file: --output <file>')
    return parquetSink(file, dataset, columns)
  }
  const output = file === undefined ? stdout : createWriteStream(file)
  let failure: Error | undefined
  if (file !== undefined) {
    output.on('error', (error) => {
      failure = error
    })
  }
  // Done when it is written: the memory of its lines is used again.
  const write = (data: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      if (failure) return reject(failure)
      output.write(data, (error) => (error ? reject(error) : resolve()))
    })
  if (format === 'csv') await write(`${[...keyColumns, ...columns.map(({ name }) => name)].join(',')}\r\n`)
  const end = async () => {
    if (file === undefined) return
    output.end()
    await finished(output as WriteStream)
  }
  const writeUnlessEmpty = async (text: string) => {
    if (text !== '') await write(text)
  }
  if (format === 'csv') {
    return {
      takes: 'records',
      write: (locationId, records) => writeUnlessEmpty(csvOf(locationId, records, columns, isForSpreadsheet)),
      end,
    }
  }
  const linesOf = createLines()
  return { takes: 'bytes', write: (locationId, records) => write(linesOf(locationId, records)), end }
}

/** Gives a page's records as lines, which last until the next page's are made. */
function createLines(): (locationId: string, records: readonly Uint8Array[]) => Uint8Array {
  let lines = Buffer.alloc(0)
  return (locationId, records) => {
    const member = Buffer.from(`${JSON.stringify({ location_id: locationId }).slice(0, -1)},`)
    const length = records.reduce((sum, record) => sum + member.length + record.length, 0)
    if (length > lines.length) lines = Buffer.allocUnsafeSlow(2 * length)
    let end = 0
    for (const record of records) {
      lines.set(member, end)
      // Each record is an object, so that a member can be put before its own, in the place of its first brace.
      lines.set(record.subarray(1), end + member.length)
      end += member.length + record.length
      lines[end - 1] = 0x0a
    }
    return lines.subarray(0, end)
  }
}

function csvOf(
  locationId: string,
  records: readonly SyncRecord[],
  columns: readonly TableColumn[],
  isForSpreadsheet: boolean,
): string {
  return records
    .map(
      ({ id, attributes }) =>
        `${[locationId, id, ...columns.map((column) => cellOf(valueAt(column, attributes), isForSpreadsheet))].join(',')}\r\n`,
    )
    .join('')
}

/** RFC 4180. Empty is null, and `""` an empty text; objects and lists are JSON. */
export function cellOf(value: unknown, isForSpreadsheet: boolean): string {
  if (value === null || value === undefined) return ''
  const plain = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const text = isForSpreadsheet ? harmless(plain) : plain
  return text === '' || /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * With an apostrophe before each part that a spreadsheet would calculate, whatever separator it splits lines at: a patient's name may be what
 * anybody typed. Amounts stay numbers. OWASP, "CSV Injection"; the service's own files follow the same rule.
 */
function harmless(text: string): string {
  return /^-?\d+(\.\d+)?$/.test(text) ? text : text.replaceAll(formula, "'")
}

const formula = /^(?=[\p{Z}\p{C}=+\-@＝＋－＠])|(?<=[;\t\r\n])(?=(?:(?![\t\r\n])[\p{Z}\p{C}"])*[=+\-@＝＋－＠])/gu
