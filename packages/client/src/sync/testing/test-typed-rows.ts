import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { datasetNames } from '../../dataset-resource.ts'
import { tableOf } from '../../stores/layout.ts'
import type { ColumnKind, TableColumn } from '../../stores/table.ts'
import { itemsOf, valueAt } from '../../stores/typed-row.ts'
import { canonical } from '../verify.ts'
import type { StoreKind } from './test-mirror.ts'

type Row = Record<string, unknown>
/** Runs a query against a mirror; every value as a text or null. */
export type Select = (sql: string) => Promise<Row[]>

/** Fails unless the tables of a SQL mirror hold exactly what its records say. */
export async function assertTypedRows(kind: StoreKind, target: string): Promise<void> {
  if (kind === 'ndjson') return
  const { select, close } = await openMirror(kind, target)
  try {
    for (const dataset of datasetNames) {
      const { columns, lists } = tableOf(dataset)
      const raw = await select(
        `select location_id, id, attributes from raw_record where dataset = '${dataset}' order by id`,
      )
      const records = raw.map(({ location_id, id, attributes }) => ({
        location_id: String(location_id),
        id: String(id),
        attributes: JSON.parse(String(attributes)) as Row,
      }))
      const rows = await select(`select * from ${dataset} order by id`)
      assert.deepEqual(
        rows.map((row) => ({ location_id: row.location_id, id: row.id, ...seen(columns, row) })),
        records.map(({ location_id, id, attributes }) => ({ location_id, id, ...expected(columns, attributes) })),
        dataset,
      )
      for (const list of lists) {
        const items = await select(`select * from ${list.name} order by ${list.parent}, position`)
        assert.deepEqual(
          items.map((row) => ({
            location_id: row.location_id,
            id: row[list.parent],
            position: row.position,
            ...seen(list.columns, row),
          })),
          records.flatMap(({ location_id, id, attributes }) =>
            itemsOf(list.from, { attributes }).map((item, index) => ({
              location_id,
              id,
              position: String(index + 1),
              ...expected(list.columns, item),
            })),
          ),
          list.name,
        )
      }
    }
  } finally {
    await close()
  }
}

/** A connection of one's own to a SQL mirror. */
export async function openMirror(kind: 'sqlite' | 'postgres', target: string) {
  if (kind === 'sqlite') {
    const database = new DatabaseSync(target)
    const select: Select = async (sql) => {
      const statement = database.prepare(sql)
      statement.setReadBigInts(true)
      return statement.all().map((row) => textsOf(row))
    }
    return { select, exec: async (sql: string) => database.exec(sql), close: async () => database.close() }
  }
  const client = new pg.Client({ connectionString: target })
  await client.connect()
  await client.query(`set search_path to bridgework, public; set time zone 'UTC'`)
  const select: Select = async (text) => {
    const { rows } = await client.query({ text, types: { getTypeParser: () => (value: unknown) => value } })
    return rows.map((row) => textsOf(row))
  }
  return { select, exec: async (sql: string) => void (await client.query(sql)), close: () => client.end() }
}

function textsOf(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]))
}

function seen(columns: readonly TableColumn[], row: Row): Row {
  return Object.fromEntries(columns.map(({ name, kind }) => [name, plain(kind, row[name])]))
}

function expected(columns: readonly TableColumn[], attributes: unknown): Row {
  return Object.fromEntries(
    columns.map((column) => {
      const value = valueAt(column, attributes)
      return [
        column.name,
        plain(column.kind, typeof value === 'object' && value !== null ? JSON.stringify(value) : value),
      ]
    }),
  )
}

/** One spelling for the values of both databases and of JSON. */
function plain(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  const text = String(value)
  if (kind === 'decimal') return Number(text).toFixed(2)
  if (kind === 'integer' || kind === 'number') return Number(text)
  if (kind === 'boolean') return text === 'true' || text === 't' || text === '1'
  if (kind === 'instant') return new Date(text).toISOString()
  if (kind === 'wall_time') return text.replace(' ', 'T')
  return kind === 'json' ? canonical(JSON.parse(text)) : text
}
