import { writeFileSync } from 'node:fs'
import type { AttributeKind } from '../generated.ts'
import type { Column, Sink } from './pull-sink.ts'

type ParquetType = 'STRING' | 'INT64' | 'DOUBLE' | 'BOOLEAN' | 'TIMESTAMP' | 'JSON'
/** The part of hyparquet-writer that is used; it is an optional peer, so its types are not named in ours. */
type ParquetModule = {
  ParquetWriter: new (options: {
    writer: unknown
    schema: unknown
  }) => { write: (options: { columnData: ColumnData[] }) => unknown; finish: () => unknown }
  fileWriter: (file: string) => unknown
  schemaFromColumnData: (options: { columnData: ColumnData[] }) => unknown
}
type ColumnData = { name: string; data: unknown[]; type: ParquetType }

/** A row group is held in memory until it is full. */
const rowGroupSize = 20_000

/** Calendar dates stay texts: they sort and compare as dates do, in every reader. */
const types: Record<AttributeKind, ParquetType> = {
  string: 'STRING',
  integer: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  instant: 'TIMESTAMP',
  date: 'STRING',
  json: 'JSON',
}

/** A Parquet file, a row group at a time. */
export async function parquetSink(file: string, columns: readonly Column[]): Promise<Sink> {
  const { ParquetWriter, fileWriter, schemaFromColumnData } = await load()
  // The writer would make it for all to read.
  writeFileSync(file, '', { mode: 0o600 })
  const empty = (): ColumnData[] => [
    { name: 'location_id', data: [], type: 'STRING' },
    { name: 'id', data: [], type: 'STRING' },
    ...columns.map(([name, kind]) => ({ name, data: [], type: types[kind] })),
  ]
  const writer = new ParquetWriter({ writer: fileWriter(file), schema: schemaFromColumnData({ columnData: empty() }) })
  let group = empty()
  const flush = async () => {
    if (group[0]?.data.length === 0) return
    await writer.write({ columnData: group })
    group = empty()
  }
  return {
    takes: 'records',
    async write(locationId, records) {
      for (const { id, attributes } of records) {
        group[0]?.data.push(locationId)
        group[1]?.data.push(id)
        columns.forEach(([name, kind], index) => {
          group[index + 2]?.data.push(cellOf(attributes[name], kind))
        })
      }
      if ((group[0]?.data.length ?? 0) >= rowGroupSize) await flush()
    },
    async end() {
      await flush()
      await writer.finish()
    },
  }
}

function cellOf(value: unknown, kind: AttributeKind): unknown {
  if (value === null || value === undefined) return null
  if (kind === 'integer') return BigInt(String(value))
  return kind === 'instant' ? new Date(String(value)) : value
}

async function load(): Promise<ParquetModule> {
  try {
    return (await import('hyparquet-writer')) as unknown as ParquetModule
  } catch (cause) {
    throw new Error('Parquet needs the package hyparquet-writer: npm install hyparquet-writer', { cause })
  }
}
