import type { DatasetName } from '../../dataset-resource.ts'
import { tableOf } from '../../stores/layout.ts'
import type { ColumnKind, TableColumn } from '../../stores/table.ts'
import { valueAt } from '../../stores/typed-row.ts'
import { keyColumns, type Sink } from './pull-sink.ts'

type Element = Record<string, string | number | object>
type ColumnData = { name: string; data: unknown[] }
/** The part of hyparquet-writer that is used; it is an optional peer, so its types are not named in ours. */
type ParquetModule = {
  ParquetWriter: new (options: {
    writer: unknown
    schema: readonly Element[]
  }) => { write: (options: { columnData: ColumnData[] }) => unknown; finish: () => unknown }
  fileWriter: (file: string) => unknown
}
/** A column of the file: `item` is the kind of what a list holds. */
type FileColumn = { name: string; kind: ColumnKind; item?: ColumnKind; read: (attributes: unknown) => unknown }

/** A row group is held in memory until it is full. */
const rowGroupSize = 20_000

/** Writes into a Parquet file that exists, a row group at a time, with these columns of the dataset's table. */
export async function parquetSink(
  file: string,
  dataset: DatasetName,
  tableColumns: readonly TableColumn[],
): Promise<Sink> {
  const { ParquetWriter, fileWriter } = await load()
  const columns = withItems(dataset, tableColumns)
  const schema = [
    { name: 'root', num_children: columns.length + 2 },
    ...keys.flatMap(elementsOf),
    ...columns.flatMap(elementsOf),
  ]
  const empty = (): ColumnData[] => [...keys, ...columns].map(({ name }) => ({ name, data: [] }))
  const writer = new ParquetWriter({ writer: fileWriter(file), schema })
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
        group[0]?.data.push(BigInt(locationId))
        group[1]?.data.push(BigInt(id))
        columns.forEach(({ kind, item, read }, index) => {
          const value = read(attributes)
          const list = item !== undefined && Array.isArray(value) ? value.map((each) => cellOf(each, item)) : null
          group[index + 2]?.data.push(list ?? cellOf(value, kind))
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

const keys = keyColumns.map((name) => ({ name, kind: 'id' }) as const)

function withItems(dataset: DatasetName, columns: readonly TableColumn[]): FileColumn[] {
  const { lists } = tableOf(dataset)
  return columns.map((column) => {
    const items = lists.find(({ from }) => from === column.name)?.columns
    const item = items?.length === 1 ? items[0]?.kind : undefined
    const read = (record: unknown) => valueAt(column, record)
    return { name: column.name, kind: column.kind, ...(item && { item }), read }
  })
}

/** The file's schema of a column: a list has three levels. */
function elementsOf({ name, kind, item }: { name: string; kind: ColumnKind; item?: ColumnKind }): Element[] {
  if (item === undefined) return [{ name, repetition_type: 'OPTIONAL', ...types[kind] }]
  return [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', ...types[item] },
  ]
}

const types: Record<ColumnKind, Element> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  id: { type: 'INT64' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  decimal: { type: 'INT64', converted_type: 'DECIMAL', scale: 2, precision: 15 },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE' },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  wall_time: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MILLIS' } },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
}

function cellOf(value: unknown, kind: ColumnKind): unknown {
  if (value === null || value === undefined) return null
  const text = String(value)
  if (kind === 'id' || kind === 'integer') return BigInt(text)
  // The unscaled value: a number of cents.
  if (kind === 'decimal') return BigInt(text.replace('.', ''))
  if (kind === 'instant' || kind === 'date') return new Date(text)
  // On the wall of the location: no zone moves it.
  return kind === 'wall_time' ? new Date(`${text}Z`) : value
}

async function load(): Promise<ParquetModule> {
  try {
    return (await import('hyparquet-writer')) as unknown as ParquetModule
  } catch (cause) {
    throw new Error('Parquet needs the package hyparquet-writer: npm install hyparquet-writer', { cause })
  }
}
