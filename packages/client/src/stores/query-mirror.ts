import { explainTarget } from './target-error.ts'

/** The columns of a query's answer, and its rows. Values are those of the driver: numbers, texts, dates, null. */
export type Answer = { columns: readonly string[]; rows: readonly Record<string, unknown>[] }

/** Runs one query on a SQLite mirror, which it cannot change. */
export async function querySqlite(file: string, sql: string): Promise<Answer> {
  const { DatabaseSync } = await import('node:sqlite')
  try {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      const statement = database.prepare(sql)
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
  try {
    await client.connect()
    await client.query('begin read only')
    await client.query('set local search_path to bridgework, public')
    const { fields, rows } = await client.query(sql)
    return { columns: fields.map(({ name }) => name), rows }
  } catch (error) {
    throw explainQuery(new URL(url).host, error)
  } finally {
    await client.end().catch(() => {})
  }
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
  const isOfQuery = code === sqliteError || /^42(?!501)/.test(String(code))
  return isOfQuery ? error : explainTarget(target, error)
}

/** SQLite's result codes: SQLITE_ERROR, which a wrong query is, and SQLITE_READONLY. */
const [sqliteError, sqliteReadOnly] = [1, 8]
