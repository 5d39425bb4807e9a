import { existsSync } from 'node:fs'
import { datasetNames } from '../dataset-resource.ts'
import { didYouMean } from '../did-you-mean.ts'
import { tableNames, tableOf, viewNames } from './layout.ts'
import { requireReader } from './reading-role.ts'
import { explainTarget, TargetError } from './target-error.ts'

/** The columns of a query's answer, and its rows. Values are numbers, texts and null; days and local times are texts, moments dates. */
export type Answer = { columns: readonly string[]; rows: readonly Record<string, unknown>[] }

/** Runs one query on a SQLite mirror. SQLite's authorizer lets it read and do nothing else: a connection that is read-only still writes other files. */
export async function querySqlite(
  file: string,
  sql: string,
  values: readonly (string | number)[] = [],
): Promise<Answer> {
  const { DatabaseSync, constants } = await import('node:sqlite')
  if (!existsSync(file))
    throw new TargetError(file, `There is no mirror. Create it: bridgework mirror --to sqlite:${file}`)
  if (typeof DatabaseSync.prototype.setAuthorizer !== 'function') {
    throw new Error(
      `This needs Node 24.10 or newer, which can keep a query from writing; this is ${process.version}. Use a newer Node, or the program of SQLite: sqlite3 -readonly ${file}`,
    )
  }
  try {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      const { SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE, SQLITE_PRAGMA, SQLITE_OK, SQLITE_DENY } =
        constants
      const reading: readonly number[] = [SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE]
      database.setAuthorizer((action, name) =>
        reading.includes(action) || (action === SQLITE_PRAGMA && describing.test(name ?? '')) ? SQLITE_OK : SQLITE_DENY,
      )
      const statement = database.prepare(sql)
      if (withoutComments(sql.slice(statement.sourceSQL.length)) !== '') throw new Error(oneAtATime)
      // An id may have more digits than a JavaScript number.
      statement.setReadBigInts(true)
      return { columns: statement.columns().map(({ name }) => name), rows: statement.all(...values) }
    } finally {
      database.close()
    }
  } catch (error) {
    throw explainQuery(file, error)
  }
}

/** SQLite's pragmas that describe tables; others set something. */
const describing = /^(table|index)_(x?info|list)$/i

/**
 * Runs one query on a PostgreSQL mirror: as a cursor, which is a select and nothing else, in a read-only transaction that is never committed. A
 * role that could reach the server's files and programs from a select is refused. The mirror's tables need no schema's name. `isReader`: a role that could
 * write into the mirror is refused as well. `timeoutMs`: for each statement.
 */
export async function queryPostgres(
  url: string,
  sql: string,
  {
    values = [],
    isReader = false,
    timeoutMs = 0,
  }: { values?: readonly unknown[]; isReader?: boolean; timeoutMs?: number } = {},
): Promise<Answer> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 })
  const texts = new Map<number, (text: string) => unknown>([
    [pg.types.builtins.DATE, (text) => text],
    [pg.types.builtins.TIMESTAMP, (text) => text.replace(' ', 'T')],
  ])
  const getTypeParser = (type: number) => texts.get(type) ?? pg.types.getTypeParser(type)
  const declare = 'declare answer cursor for '
  try {
    await client.connect()
    await client.query('begin read only')
    // The first query of the transaction: after it, none can make the transaction one that writes.
    await requireReader(client, { isReader })
    await client.query(`set local statement_timeout = ${timeoutMs}`)
    await client.query('set local search_path to bridgework, public; set local cursor_tuple_fraction = 1')
    // One with a name is prepared, and so it is a single statement.
    await client.query({ name: 'question', text: `${declare}${sql}`, values: [...values] })
    const { fields, rows } = await client.query({ text: 'fetch all from answer', types: { getTypeParser } })
    return { columns: fields.map(({ name }) => name), rows }
  } catch (error) {
    throw isNoSelect(error, declare, sql) ? changes(error) : explainQuery(new URL(url).host, error)
  } finally {
    await client.end().catch(() => {})
  }
}

const oneAtATime = 'These are several statements. Ask one query at a time.'

/** Whether PostgreSQL takes no cursor for this: another statement than a select, or one that has another within it. */
function isNoSelect(error: unknown, declare: string, sql: string): error is Error {
  if (!(error instanceof Error && 'code' in error)) return false
  const at = 'position' in error ? Number(error.position) - 1 - declare.length : Number.NaN
  const isFirstWord = error.code === '42601' && at < sql.length && withoutComments(sql.slice(0, at)) === ''
  return isFirstWord || (error.code === '0A000' && /DECLARE CURSOR/.test(error.message))
}

/** What is left of a text of SQL besides comments, space and the ends of statements. */
function withoutComments(sql: string): string {
  return sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|[\s;]/g, '')
}

function changes(cause: Error): Error {
  return new Error('This query would do more than read the mirror. Ask with select.', { cause })
}

/** What the database says of a query is for the person who wrote it; what keeps it from being used names the target. */
function explainQuery(target: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'errcode' in error ? Number(error.errcode) & 0xff : 'code' in error ? String(error.code) : ''
  // A function that is not allowed has the code of a wrong query.
  if (code === sqliteAuth || code === '25006' || /^not authorized/.test(error.message)) return changes(error)
  if (/multiple commands into a prepared statement/.test(error.message)) return new Error(oneAtATime, { cause: error })
  const isOfQuery = code === sqliteError || /^42(?!501)/.test(String(code))
  if (!isOfQuery) return explainTarget(target, error)
  const hint = 'hint' in error && typeof error.hint === 'string' ? ` ${error.hint}` : knownName(error.message)
  return new Error(`${error.message}.${hint}`, { cause: error })
}

/** The table or column of a mirror that a misspelt one is like. */
function knownName(message: string): string {
  const [, table] =
    /no such table: (?:\w+\.)?(\w+)|relation "(?:\w+\.)?(\w+)" does not exist/.exec(message)?.filter(Boolean) ?? []
  if (table !== undefined) return didYouMean(table, queryable) || ` Tables and views: ${queryable.join(', ')}.`
  const [, column] = /no such column: (?:\w+\.)?(\w+)/.exec(message) ?? []
  if (column === undefined) return ''
  return didYouMean(column, [
    ...new Set(datasetNames.flatMap((name) => tableOf(name).columns.map((each) => each.name))),
  ])
}

const queryable = [...viewNames, ...tableNames]

/** SQLite's result codes: SQLITE_ERROR, which a wrong query is, and SQLITE_AUTH. */
const [sqliteError, sqliteAuth] = [1, 23]
