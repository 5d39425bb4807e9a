import type { DatasetName } from '../../dataset-resource.ts'
import type { SyncRecord } from '../../sync/store.ts'
import { tableOf } from '../layout.ts'
import type { TableColumn } from '../table.ts'
import { itemsOf, valueAt } from '../typed-row.ts'
import { namesOf } from './postgres-tables.ts'

/** The part of pg's client and connection that COPY uses. */
type Connection = { query: (sql: string) => void; sendCopyFromChunk: (rows: Buffer) => void; endCopyFrom: () => void }
type Client = { query: ((sql: string) => Promise<unknown>) & ((command: Copy) => unknown); connection?: unknown }

/**
 * Writes records of which the mirror has none yet with COPY, which takes half of the database's time that taking their JSON apart there
 * does. Returns false, and has written nothing, when the database refuses a value or has a record: the statement for that knows what to do
 * with a year 0, a character 0 and a row that is there. Also where pg runs on libpq (NODE_PG_FORCE_NATIVE), which gives no COPY. In the
 * caller's transaction.
 */
export async function copyRecords(
  client: Client,
  schema: string,
  dataset: DatasetName,
  locationId: string,
  records: readonly Pick<SyncRecord, 'id' | 'attributes'>[],
): Promise<boolean> {
  if (client.connection === undefined) return false
  await client.query('savepoint page')
  const commands = commandsFor(schema, dataset, locationId, records)
  try {
    let command = commands.next()
    while (!command.done) {
      const { sql, rows } = command.value
      // The next rows are made while the database works on these.
      if (rows !== '') await copy(client, sql, rows, () => (command = commands.next()))
      else command = commands.next()
    }
    return true
  } catch (error) {
    if (!isRefused(error)) throw error
    await client.query('rollback to savepoint page')
    return false
  }
}

type Command = { sql: string; rows: string }

/** The records themselves, then the rows of each of their tables. */
function* commandsFor(
  schema: string,
  dataset: DatasetName,
  locationId: string,
  records: readonly Pick<SyncRecord, 'id' | 'attributes'>[],
): Generator<Command, undefined> {
  const into = (table: string, columns: readonly string[]) =>
    `copy ${schema}.${table} (${columns.join(', ')}) from stdin`
  let rows = ''
  for (const { id, attributes } of records) {
    rows += `${dataset}\t${locationId}\t${id}\t${escaped(JSON.stringify(attributes))}\n`
  }
  yield { sql: into('raw_record', ['dataset', 'location_id', 'id', 'attributes']), rows }

  const { columns, lists } = tableOf(dataset)
  rows = ''
  for (const { id, attributes } of records) rows += `${locationId}\t${id}${textsOf(columns, attributes)}\n`
  yield { sql: into(dataset, namesOf(['location_id', 'id'], { columns })), rows }

  for (const list of lists) {
    rows = ''
    for (const record of records) {
      itemsOf(list.from, record).forEach((item, index) => {
        rows += `${locationId}\t${record.id}\t${index + 1}${textsOf(list.columns, item)}\n`
      })
    }
    yield { sql: into(list.name, namesOf(['location_id', list.parent, 'position'], list)), rows }
  }
}

/** The values of a row, each after a tab, as COPY reads them. */
function textsOf(columns: readonly TableColumn[], attributes: unknown): string {
  let texts = ''
  for (const column of columns) {
    const value = valueAt(column, attributes)
    if (value === null || value === undefined) texts += '\t\\N'
    else if (column.kind === 'json' || typeof value === 'object') texts += `\t${escaped(JSON.stringify(value))}`
    else texts += typeof value === 'string' ? `\t${escaped(value)}` : `\t${value}`
  }
  return texts
}

const signs: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escaped(text: string): string {
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (sign) => signs[sign] ?? sign) : text
}

/** SQLSTATE 22: a value that the column does not take; 23: a row that is there. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code))
}

/** What pg runs in the place of a query of its own. */
export type Copy = {
  submit: (connection: Connection) => void
  handleCopyInResponse: (connection: Connection) => void
  handleCommandComplete: () => void
  handleError: (error: Error) => void
  handleReadyForQuery: () => void
}

/** Runs a COPY from these rows. `meanwhile` is done when they are sent, while the database works on them. */
function copy(client: Client, sql: string, rows: string, meanwhile: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (connection) => connection.query(sql),
      handleCopyInResponse(connection) {
        connection.sendCopyFromChunk(Buffer.from(rows))
        connection.endCopyFrom()
        try {
          meanwhile()
        } catch (error) {
          reject(error)
        }
      },
      handleCommandComplete() {},
      handleError: reject,
      handleReadyForQuery: () => resolve(),
    })
  })
}
