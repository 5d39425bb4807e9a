import { existsSync } from 'node:fs'
import { datasetNames } from '../dataset-resource.ts'
import { didYouMean } from '../did-you-mean.ts'
import { tableNames, tableOf, viewNames } from './layout.ts'
import { explainTarget, TargetError } from './target-error.ts'

/** The columns of a query's answer, and its rows. Values are numbers, texts and null; days and local times are texts, moments dates. */
export type Answer = { columns: readonly string[]; rows: readonly Record<string, unknown>[] }

/** Runs one query on a SQLite mirror, which it cannot change. */
export async function querySqlite(file: string, sql: string): Promise<Answer> {
  const { DatabaseSync } = await import('node:sqlite')
  if (!existsSync(file))
    throw new TargetError(file, `There is no mirror. Create it: bridgework mirror --to sqlite:${file}`)
  try {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      const statement = database.prepare(sql)
      if (withoutComments(sql.slice(statement.sourceSQL.length)) !== '') throw new Error(oneAtATime)
      // An id may have more digits than a JavaScript number.
      statement.setReadBigInts(true)
      return { columns: statement.columns().map(({ name }) => name), rows: statement.all() }
    } finally {
      database.close()
    }
  } catch (error) {
    throw explainQuery(file, error)
  }
}

/** Runs one query on a PostgreSQL mirror, which it cannot change. Its tables need no schema's name. */
export async function queryPostgres(url: string, sql: string): Promise<Answer> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 })
  const texts = new Map<number, (text: string) => unknown>([
    [pg.types.builtins.DATE, (text) => text],
    [pg.types.builtins.TIMESTAMP, (text) => text.replace(' ', 'T')],
  ])
  const getTypeParser = (type: number) => texts.get(type) ?? pg.types.getTypeParser(type)
  try {
    await client.connect()
    await client.query('begin read only')
    await client.query('set local search_path to bridgework, public')
    // One with a name is prepared, and so it is a single statement: another one could end the transaction, and with it what it may not do.
    const { fields, rows } = await client.query({ name: 'question', text: sql, types: { getTypeParser } })
    return { columns: fields.map(({ name }) => name), rows }
  } catch (error) {
    throw explainQuery(new URL(url).host, error)
  } finally {
    await client.end().catch(() => {})
  }
}

const oneAtATime = 'These are several statements. Ask one query at a time.'

/** What is left of a text of SQL besides comments, space and the ends of statements. */
function withoutComments(sql: string): string {
  return sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|[\s;]/g, '')
}

/** What the database says of a query is for the person who wrote it; what keeps it from being used names the target. */
function explainQuery(target: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'errcode' in error ? Number(error.errcode) & 0xff : 'code' in error ? String(error.code) : ''
  if (code === sqliteReadOnly || code === '25006') {
    return new Error('This query would change the mirror. Only the mirror writes into its tables; ask with select.', {
      cause: error,
    })
  }
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

/** SQLite's result codes: SQLITE_ERROR, which a wrong query is, and SQLITE_READONLY. */
const [sqliteError, sqliteReadOnly] = [1, 8]
