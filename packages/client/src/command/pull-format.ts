import { createWriteStream, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { DatasetName } from '../dataset-resource.ts'
import type { AttributeKind } from '../generated.ts'
import { columnsOf } from '../stores/layout.ts'
import type { SyncRecord } from '../sync/store.ts'
import { type Context, writeTo } from './context.ts'
import { parquetSink } from './pull-parquet.ts'
import { UsageError } from './usage-error.ts'

export const formats = ['ndjson', 'csv', 'parquet'] as const
export type Format = (typeof formats)[number]

/** Where pulled records go, page by page. */
export type Sink = {
  write: (locationId: string, records: readonly SyncRecord[]) => Promise<void>
  end: () => Promise<void>
}

export type Column = readonly [name: string, kind: AttributeKind]

/** The format that was asked for, or that the file's name ends with, or NDJSON. */
export function formatOf(given: string | undefined, file: string | undefined): Format {
  const ending = file?.split('.').at(-1)?.toLowerCase()
  const wanted = given ?? (ending === 'csv' || ending === 'parquet' ? ending : 'ndjson')
  const format = formats.find((name) => name === wanted)
  if (!format) throw new UsageError(`There is no format ${JSON.stringify(wanted)}. Formats: ${formats.join(', ')}`)
  return format
}

/** The columns of a table of this dataset, `fields` alone when there are any. */
export function columnsFor(dataset: DatasetName, fields: readonly string[] | undefined): Column[] {
  const columns = columnsOf(dataset)
  return fields === undefined ? columns : columns.filter(([name]) => fields.includes(name))
}

export async function openSink(
  format: Format,
  columns: readonly Column[],
  file: string | undefined,
  stdout: Context['stdout'],
): Promise<Sink> {
  if (format === 'parquet') {
    if (file === undefined) throw new UsageError('Parquet is written to a file: --output <file>')
    return parquetSink(file, columns)
  }
  const output = file === undefined ? stdout : createWriteStream(file, { mode: 0o600 })
  let failure: Error | undefined
  if (file !== undefined) {
    output.on('error', (error) => {
      failure = error
    })
  }
  const write = (text: string) => {
    if (failure) throw failure
    return writeTo(output, text)
  }
  if (format === 'csv') await write(`${['location_id', 'id', ...columns.map(([name]) => name)].join(',')}\r\n`)
  return {
    write: (locationId, records) =>
      records.length === 0
        ? Promise.resolve()
        : write((format === 'csv' ? csvOf : ndjsonOf)(locationId, records, columns)),
    async end() {
      if (file === undefined) return
      output.end()
      await finished(output as WriteStream)
    },
  }
}

function ndjsonOf(locationId: string, records: readonly SyncRecord[]): string {
  return records.map((record) => `${JSON.stringify({ location_id: locationId, ...record })}\n`).join('')
}

function csvOf(locationId: string, records: readonly SyncRecord[], columns: readonly Column[]): string {
  return records
    .map(
      ({ id, attributes }) => `${[locationId, id, ...columns.map(([name]) => cellOf(attributes[name]))].join(',')}\r\n`,
    )
    .join('')
}

/** RFC 4180. Empty is null, and `""` an empty text; objects and lists are JSON. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
