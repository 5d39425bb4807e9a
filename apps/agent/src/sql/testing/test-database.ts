import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Practice } from '@bridgework/practice-simulator'
import type { TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { Client } from 'pg'
import type { EngineName, SqlSettings } from '../settings.ts'
import { type TestTable, tablesOf } from './test-tables.ts'

type Rows = Map<string, string>

/** A database of one engine as its administrator sees it, and the settings of an account that can only read. */
export type TestSqlDatabase = {
  readonly engine: Exclude<EngineName, 'sqlserver' | 'odbc'>
  readonly settings: SqlSettings
  /** Instants stand as texts in UTC, because what reads the database gives times no zone. */
  readonly hasTextInstants?: boolean
  execute(sql: string): Promise<void>
}

const settings: SqlSettings = {
  engine: 'sqlite',
  host: '127.0.0.1',
  port: null,
  instance: null,
  socket: null,
  user: '',
  password: '',
  name: '',
  tls: null,
  program: null,
}

export function sqliteDatabase(t: { after(work: () => void): void }, folder: string): TestSqlDatabase {
  const name = join(folder, 'practice.sqlite')
  const database = new DatabaseSync(name)
  database.exec('pragma journal_mode = wal; pragma synchronous = off')
  t.after(() => database.close())
  return {
    engine: 'sqlite',
    settings: { ...settings, name },
    // SQLite has no type for an instant: programs write one as text.
    hasTextInstants: true,
    execute: async (sql) => database.exec(sql),
  }
}

export async function mariaDatabase(mariaDb: TestMariaDb): Promise<TestSqlDatabase> {
  const made = await mariaDb.createDatabase({ schema: null })
  await made.execute(`alter database ${made.name} character set utf8mb4`)
  return {
    engine: 'mysql',
    settings: { ...settings, ...made.settings, engine: 'mysql' },
    execute: async (sql) => void (await made.execute(sql)),
  }
}

/** `url`: of an empty database, as its owner. */
export async function postgresDatabase(
  t: { after(work: () => Promise<void>): void },
  url: string,
): Promise<TestSqlDatabase> {
  const owner = new Client({ connectionString: url })
  await owner.connect()
  const { host, port, database = '' } = owner
  const user = `reader_${database}`.slice(0, 60)
  await owner.query(`create role ${user} login password 'reads only'; grant pg_read_all_data to ${user}`)
  t.after(async () => {
    await owner.query(`drop owned by ${user}; drop role ${user}`)
    await owner.end()
  })
  return {
    engine: 'postgresql',
    settings: {
      ...settings,
      engine: 'postgresql',
      ...(host.startsWith('/') ? { socket: host } : { host }),
      port,
      user,
      password: 'reads only',
      name: database,
    },
    execute: async (sql) => void (await owner.query(sql)),
  }
}

/** Keeps a practice in a database as a program does: a row that changes gets a new time and a new version, and others stay. */
export function practiceIn(database: TestSqlDatabase) {
  const { engine, hasTextInstants = false } = database
  const name = (column: string) => (engine === 'mysql' ? `\`${column}\`` : `"${column}"`)
  const text = (value: string | null) =>
    value === null ? 'null' : `'${value.replaceAll("'", "''").replaceAll('\\', engine === 'mysql' ? '\\\\' : '\\')}'`
  const kept = new Map<string, Rows>()
  let version = 0

  const keep = async ({ name: table, columns, rows }: TestTable, at: string) => {
    const before = kept.get(table) ?? new Map()
    // The rows of one record are changed together.
    const now = new Map<string, string>()
    const records = Map.groupBy(rows, ([office, key]) => `${office}\n${key}`)
    const statements: string[] = []
    for (const [key, own] of records) {
      const content = JSON.stringify(own)
      now.set(key, content)
      if (before.get(key) === content) continue
      const [[office = null, recordKey = null] = []] = own
      if (before.has(key))
        statements.push(`delete from ${name(table)} where office = ${text(office)} and record_key = ${text(recordKey)}`)
      version += 1
      const values = own.map((row) => `(${[...row.map(text), text(at), String(version)].join(', ')})`)
      const names = [...columns.map((column) => name(column.name)), 'changed_at', 'version']
      statements.push(`insert into ${name(table)} (${names.join(', ')}) values ${values.join(', ')}`)
    }
    for (const key of before.keys()) {
      if (now.has(key)) continue
      const [office = '', recordKey = ''] = key.split('\n')
      statements.push(`delete from ${name(table)} where office = ${text(office)} and record_key = ${text(recordKey)}`)
    }
    kept.set(table, now)
    return statements
  }

  return {
    /** Writes what is new; returns the mapping that reads it. */
    write: async (practice: Practice, at: Date): Promise<object> => {
      const { tables, mapping, stampType } = tablesOf(practice, engine, hasTextInstants)
      const statements: string[] = []
      for (const table of tables) {
        if (!kept.has(table.name)) {
          const columns = [
            ...table.columns,
            { name: 'changed_at', type: stampType },
            { name: 'version', type: 'integer' },
          ]
          const list = columns.map((column) => `${name(column.name)} ${column.type}`)
          statements.push(`create table ${name(table.name)} (${list.join(', ')})`)
        }
        statements.push(...(await keep(table, at.toISOString().slice(0, 19).replace('T', ' '))))
      }
      const begin = engine === 'mysql' ? 'start transaction' : 'begin'
      for (let start = 0; start < statements.length; start += 200)
        await database.execute([begin, ...statements.slice(start, start + 200), 'commit'].join(';\n'))
      return mapping
    },
  }
}
