import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { joinedBySql, type Query, rowsPerChunk, type SqlSession, sqlOf } from '../session.ts'
import type { SqlSettings } from '../settings.ts'
import { errorCode, type SqlFault } from '../sql-problem.ts'

/** A file of SQLite, opened for reading alone, in one snapshot. */
export async function openSqlite({ name }: SqlSettings): Promise<SqlSession> {
  if (!existsSync(name)) throw Object.assign(new Error('no file'), { code: 'NO_FILE' })
  const database = new DatabaseSync(name, { readOnly: true, timeout: 10_000 })
  try {
    database.exec('begin')
    // A transaction begins with its first read.
    const version = String(
      database.prepare('select sqlite_version() as version from sqlite_schema limit 1').get()?.version,
    )
    return {
      version: `SQLite ${version}`,
      hasSnapshot: true,
      encryption: null,
      mayWrite: null,
      rightsAreKnown: true,
      readerStatements: '',
      now: new Date(),
      quoted,
      joined: joinedBySql,
      literal,
      // Texts are compared: a column whose times have a T gives the whole day.
      timeLiteral: (text) => literal(text.replace('T', ' ')),
      versionLiteral: (text) => text,
      settledVersion: async () => null,
      read: async function* (query: Query) {
        const statement = database.prepare(sqlOf(query, query.columns?.map(quoted).join(', '), true))
        statement.setReadBigInts(true)
        let columns: string[] = []
        let rows: (string | null)[][] = []
        let isFirst = true
        for (const row of statement.iterate()) {
          if (columns.length === 0) columns = Object.keys(row)
          rows.push(Object.values(row).map(textOf))
          if (rows.length < rowsPerChunk) continue
          yield { columns, rows }
          isFirst = false
          rows = []
        }
        if (isFirst || rows.length > 0)
          yield { columns: columns.length > 0 ? columns : statement.columns().map((column) => column.name), rows }
      },
      end: async () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** A number with decimals has 15 digits that count: 0.1 + 0.2 is 0.3. */
function textOf(value: unknown): string | null {
  if (value === null) return null
  if (typeof value === 'number') return String(Number(value.toPrecision(15)))
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  return String(value)
}

function quoted(column: string): string {
  return `"${column.replaceAll('"', '""')}"`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** https://sqlite.org/rescode.html */
export function faultOfSqlite(error: unknown): SqlFault {
  const number = typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) & 0xff : null
  if (number === null) {
    const code = errorCode(error)
    return code === 'NO_FILE' ? { kind: 'database_missing', code } : { kind: 'unexpected', code }
  }
  const code = `SQLite error ${number}`
  if (number === 1) return { kind: 'statement', code, text: error instanceof Error ? error.message : '' }
  if (number === 5 || number === 6) return { kind: 'too_slow', code }
  if (number === 14 || number === 26) return { kind: 'database_missing', code }
  return { kind: 'unexpected', code }
}
