import { type Chunk, joinedBySql, type Query, type SqlSession, sqlOf } from '../session.ts'
import type { SqlSettings } from '../settings.ts'
import { errorCode, type SqlFault } from '../sql-problem.ts'
import { type OdbcAnswer, OdbcError, type OdbcProgram, packagedPrograms, startOdbc } from './odbc-program.ts'

/** A session of whatever an ODBC driver reads. The driver has no common way to a snapshot, to the account's rights and to the server's clock. */
export async function openOdbc(
  settings: SqlSettings,
  programs = settings.program === null ? packagedPrograms() : [settings.program],
): Promise<SqlSession> {
  const { program, about } = await connect(settings, programs)
  try {
    const isReadOnly = about.readOnly === 'Y'
    const user = String(about.user) || settings.user
    const mayWrite = isReadOnly || user === '' ? null : await rightToWrite(program, user)
    const mark = String(about.quote).trim()
    const quoted = (column: string) => `${mark}${mark === '' ? column : column.replaceAll(mark, mark + mark)}${mark}`
    const isMysql = /mysql|mariadb/i.test(String(about.dbms))
    const text = (value: string) => `'${(isMysql ? value.replaceAll('\\', '\\\\') : value).replaceAll("'", "''")}'`
    /** By statement, which columns hold numbers. */
    const numbers = new Map<string, ReadonlySet<string>>()
    return {
      version: `${about.dbms} ${about.version} through ODBC`,
      hasSnapshot: false,
      encryption: null,
      mayWrite,
      rightsAreKnown: isReadOnly,
      readerStatements: 'create user bridgework; grant select on each table to bridgework; (in its own words)',
      now: new Date(),
      quoted,
      // MySQL takes || for `or`, and not every system has a function for it.
      joined: (first, last) => (isMysql ? `concat_ws(' ', ${first}, ${last})` : joinedBySql(first, last)),
      // Some databases compare no number with a text.
      literal: (value, of) => {
        const isNumber = of !== undefined && numbers.get(of.select)?.has(of.column) === true
        return isNumber && /^-?\d+(\.\d+)?$/.test(value) ? value : text(value)
      },
      timeLiteral: (value) => `{ts ${text(value.replace('T', ' '))}}`,
      versionLiteral: (value) => value,
      settledVersion: async () => null,
      read: async function* (query: Query) {
        const sql = sqlOf(query, query.columns?.map(quoted).join(', '))
        for await (const { columns, rows } of answers(program, 'read', sql)) {
          numbers.set(query.select, new Set(columns.flatMap(([name, type]) => (isNumeric(type) ? [name] : []))))
          yield { columns: columns.map(([name]) => name), rows }
        }
      },
      catalog: () => catalogOf(program),
      end: () => program.end(),
    }
  } catch (error) {
    await program.end()
    throw error
  }
}

/** By the first program that the driver fits: one of 32 bits and one of 64 see other drivers, and on Windows other data sources. */
async function connect(settings: SqlSettings, programs: readonly string[]) {
  let first: unknown = new OdbcError('NO_PROGRAM', 'no program')
  for (const [index, path] of programs.entries()) {
    const program = startOdbc(path)
    try {
      const { end: about } = await program.ask('connect', connectionString(settings))
      return { program, about }
    } catch (error) {
      await program.end()
      if (index === 0) first = error
      if (faultOfOdbc(error).kind !== 'driver') throw error
    }
  }
  throw first
}

/** `name` is the string without the account, or the name of a data source alone. */
export function connectionString({ name, user, password }: SqlSettings): string {
  const value = (text: string) => (/^[\w.-]+$/.test(text) ? text : `{${text.replaceAll('}', '}}')}}`)
  const account = user === '' ? [] : [`UID=${value(user)}`, `PWD=${value(password)}`]
  return [name.includes('=') ? name.replace(/;\s*$/, '') : `DSN=${name}`, ...account].join(';')
}

/** Of tables and views alone; the driver's list of columns has those of the system too. */
async function* catalogOf(program: OdbcProgram): AsyncGenerator<Chunk> {
  const known = new Set<string>()
  for await (const { rows } of answers(program, 'tables'))
    for (const [, schema, table] of rows) known.add(JSON.stringify([schema || null, table]))
  for await (const { rows } of answers(program, 'columns')) {
    const own = rows.filter(([, schema, table]) => known.has(JSON.stringify([schema || null, table])))
    yield {
      columns: [],
      rows: own.map(([, schema, table, column, , type]) =>
        [schema || null, table, column, type, '0'].map((text) => text ?? null),
      ),
    }
  }
}

/** The answer in its parts, of which only the first may have no rows. */
async function* answers(program: OdbcProgram, command: string, text?: string): AsyncGenerator<OdbcAnswer> {
  let answer = await program.ask(command, text)
  yield answer
  while (answer.end.more === true) {
    answer = await program.ask('more')
    if (answer.rows.length > 0) yield answer
  }
}

/** The first right to write that is granted to this user by name, or to all. Rights of groups and of owners are not in this list. */
async function rightToWrite(program: OdbcProgram, user: string): Promise<string | null> {
  try {
    for await (const { rows } of answers(program, 'privileges')) {
      for (const [, , table, , grantee, privilege] of rows) {
        // MariaDB writes an account as 'name'@'host'.
        const name = (grantee ?? '').replace(/^'(.*)'@.*$/, '$1').toLowerCase()
        if ((name === user.toLowerCase() || name === 'public') && /^(insert|update|delete)$/i.test(privilege ?? ''))
          return `${privilege} on ${table}`
      }
    }
    return null
  } catch (error) {
    // A driver need not have this list.
    if (error instanceof OdbcError && /^[A-Z0-9]{5}$/.test(error.code)) return null
    throw error
  }
}

/** Decimals, whole numbers and floats: https://learn.microsoft.com/sql/odbc/reference/appendixes/sql-data-types */
function isNumeric(type: number): boolean {
  return (type >= 2 && type <= 8) || (type <= -5 && type >= -6)
}

/** https://learn.microsoft.com/sql/odbc/reference/appendixes/appendix-a-odbc-error-codes */
export function faultOfOdbc(error: unknown): SqlFault {
  const code = errorCode(error)
  const text = error instanceof Error ? error.message : ''
  // unixODBC has no code of its own for a driver that it does not find.
  if (/^(IM\d{3}|NO_PROGRAM|PROGRAM_ENDED)$/.test(code) || (code === '01000' && /open lib/i.test(text)))
    return { kind: 'driver', code: code === '01000' ? 'IM003' : code }
  if (code === '28000') return { kind: 'access_denied', code }
  if (code === '42501' || (code.startsWith('42') && /denied|permission/i.test(text)))
    return { kind: 'rights_missing', code, text: plain(text) }
  if (/^(42|S00|37)/.test(code) || code === '21S01') return { kind: 'statement', code, text: plain(text) }
  if (/^HYT0/.test(code) || code === 'NO_ANSWER' || code === '40001') return { kind: 'too_slow', code }
  if (/^(08|3D)/.test(code)) return { kind: 'unreachable', code }
  return { kind: 'unexpected', code }
}

/** Without the names of driver and driver manager in brackets. */
function plain(text: string): string {
  return text.replace(/^(\[[^\]]*\])+/, '').trim()
}
