import { Connection, type ConnectionConfiguration, Request } from 'tedious'
import { readAuthorities } from '../../open-dental/database/connection.ts'
import { type Chunk, type Query, rowsPerChunk, type SqlSession, sqlOf } from '../session.ts'
import type { SqlSettings } from '../settings.ts'
import { answerMsMax, errorCode, inTime, networkFault, type SqlFault } from '../sql-problem.ts'

/** What makes an account that can only read. */
export const readerStatements =
  "create login bridgework with password = '…'; create user bridgework for login bridgework; alter role db_datareader add member bridgework;"

/** A session of Microsoft SQL Server: one snapshot where the database allows it, otherwise of rows that are committed. */
export async function openSqlServer(settings: SqlSettings): Promise<SqlSession> {
  const connection = new Connection(configOf(settings))
  // Without a listener a connection that dies between two statements would end the process.
  connection.on('error', () => {})
  const all = async (sql: string): Promise<Chunk> => {
    const rows: (readonly (string | null)[])[] = []
    let columns: readonly string[] = []
    for await (const chunk of stream(connection, sql)) {
      columns = chunk.columns
      rows.push(...chunk.rows)
    }
    return { columns, rows }
  }
  try {
    await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
    await all('set lock_timeout 10000; set deadlock_priority low')
    const [about = []] = (await all(aboutSql)).rows
    const [version = '', now = '', snapshot = '0', mayWrite = null] = about
    const hasSnapshot = snapshot === '1'
    await all(`set transaction isolation level ${hasSnapshot ? 'snapshot' : 'read committed'}; begin transaction`)
    const lists = new Map<string, string>()

    /** The columns as texts: drivers turn decimals into floats, and cut times to milliseconds. */
    const listOf = async (select: string, columns: readonly string[] | undefined): Promise<string> => {
      const key = JSON.stringify([select, columns])
      const known = lists.get(key)
      if (known !== undefined) return known
      const statement = sqlOf({ select }, columns?.map(quoted).join(', ') ?? '*')
      const { rows } = await all(
        `select name, system_type_name from sys.dm_exec_describe_first_result_set(${literal(statement)}, null, 0) where is_hidden = 0 order by column_ordinal`,
      )
      // What it cannot describe, the statement itself answers with the reason.
      const list = rows.map(([name, type]) => `${textExpression(name ?? '', type ?? '')} as ${quoted(name ?? '')}`)
      const text = list.length === 0 || rows.some(([name]) => name === null) ? '*' : list.join(', ')
      lists.set(key, text)
      return text
    }
    return {
      version: `SQL Server ${version}`,
      hasSnapshot,
      // The driver goes on with an encrypted connection alone when it is told so.
      encryption: settings.tls === null ? null : 'TLS',
      mayWrite,
      rightsAreKnown: true,
      readerStatements,
      now: new Date(now ?? ''),
      quoted,
      joined: (first, last) => `ltrim(rtrim(concat(${first}, ' ', ${last})))`,
      literal,
      // Without the T, a datetime's month and day change places in some languages.
      timeLiteral: literal,
      versionLiteral: (text) => (text.startsWith('0x') ? text : literal(text)),
      settledVersion: async () =>
        (await all('select convert(varchar(18), min_active_rowversion(), 1)')).rows[0]?.[0] ?? null,
      read: async function* (query: Query) {
        const top = query.rowsMax === undefined ? '' : `top (${query.rowsMax}) `
        yield* stream(connection, sqlOf(query, `${top}${await listOf(query.select, query.columns)}`))
      },
      end: async () => connection.close(),
    }
  } catch (error) {
    connection.close()
    throw error
  }
}

/** The version, the clock, whether snapshots are allowed, and the first right to write. */
const aboutSql = `
  select convert(varchar(40), serverproperty('ProductVersion')), convert(varchar(33), sysutcdatetime(), 126) + 'Z',
         (select convert(varchar(1), snapshot_isolation_state) from sys.databases where database_id = db_id()),
         coalesce(
           (select 'sysadmin' where is_srvrolemember('sysadmin') = 1),
           (select top 1 permission_name from sys.fn_my_permissions(null, 'DATABASE')
             where permission_name in ('INSERT', 'UPDATE', 'DELETE', 'ALTER', 'CONTROL', 'EXECUTE')),
           (select top 1 concat('write to ', object_schema_name(object_id), '.', name) from sys.tables
             where has_perms_by_name(concat(quotename(object_schema_name(object_id)), '.', quotename(name)), 'OBJECT', 'INSERT') = 1
                or has_perms_by_name(concat(quotename(object_schema_name(object_id)), '.', quotename(name)), 'OBJECT', 'UPDATE') = 1
                or has_perms_by_name(concat(quotename(object_schema_name(object_id)), '.', quotename(name)), 'OBJECT', 'DELETE') = 1))`

function configOf({ host, port, instance, user, password, name, tls }: SqlSettings): ConnectionConfiguration {
  const isVerified = tls?.mode === 'verified'
  return {
    server: host,
    authentication: { type: 'default', options: { userName: user, password } },
    options: {
      ...(instance === null ? { port: port ?? 1433 } : { instanceName: instance }),
      database: name,
      fallbackToDefaultDb: false,
      encrypt: tls !== null,
      trustServerCertificate: !isVerified,
      ...(isVerified && tls.caFile !== null && { cryptoCredentialsDetails: { ca: readAuthorities(tls.caFile) } }),
      appName: 'bridgework-agent',
      readOnlyIntent: true,
      connectTimeout: 10_000,
      requestTimeout: 0,
      cancelTimeout: 5000,
      useUTC: true,
      rowCollectionOnRequestCompletion: false,
    },
  }
}

/** https://learn.microsoft.com/sql/t-sql/functions/cast-and-convert-transact-sql: 121 is ISO 8601, 127 the same in UTC, 2 money's four decimals, 1 hexadecimal. */
export function textExpression(name: string, type: string): string {
  const column = quoted(name)
  const base = type.replace(/\(.*$/, '')
  if (base === 'datetimeoffset') return `convert(nvarchar(33), ${column}, 127)`
  if (/^(date|time|datetime|datetime2|smalldatetime)$/.test(base)) return `convert(nvarchar(33), ${column}, 121)`
  if (/^(small)?money$/.test(base)) return `convert(nvarchar(33), ${column}, 2)`
  if (/^(binary|varbinary|timestamp|rowversion)$/.test(base)) return `convert(varchar(max), ${column}, 1)`
  // As decimals with what counts of their digits: the plain conversion has six.
  if (base === 'float') return `convert(nvarchar(60), convert(decimal(38, 10), str(${column}, 38, 10)))`
  if (base === 'real') return `convert(nvarchar(60), convert(decimal(38, 5), str(${column}, 38, 5)))`
  return `convert(nvarchar(max), ${column})`
}

/** The rows of a statement; the server is held up while they are not taken. */
async function* stream(connection: Connection, sql: string): AsyncGenerator<Chunk> {
  let columns: string[] = []
  let rows: (string | null)[][] = []
  let isDone = false
  let failure: Error | null = null
  let wake = () => {}
  const request = new Request(sql, (error) => {
    isDone = true
    failure = error ?? null
    wake()
  })
  request.on('columnMetadata', (found) => {
    columns = (Array.isArray(found) ? found : Object.values(found)).map(({ colName }) => colName)
  })
  request.on('row', (cells: { value: unknown }[]) => {
    rows.push(cells.map(({ value }) => (value === null || value === undefined ? null : String(value))))
    if (rows.length < rowsPerChunk) return
    request.pause()
    wake()
  })
  connection.execSqlBatch(request)
  let isFirst = true
  try {
    for (;;) {
      if (!isDone && rows.length < rowsPerChunk) {
        const waiting = new Promise<void>((resolve) => {
          wake = resolve
        })
        await inTime(waiting, () => connection.close(), answerMsMax)
      }
      if (failure !== null) throw failure
      if (rows.length > 0 || (isDone && isFirst)) {
        const chunk = rows
        rows = []
        isFirst = false
        yield { columns, rows: chunk }
        request.resume()
      }
      if (isDone && rows.length === 0) return
    }
  } finally {
    // The connection takes no other statement before this one has ended.
    if (!isDone) {
      const ended = new Promise<void>((resolve) => {
        wake = () => isDone && resolve()
      })
      request.cancel()
      request.resume()
      await inTime(ended, () => connection.close(), 10_000).catch(() => {})
    }
  }
}

function quoted(column: string): string {
  return `[${column.replaceAll(']', ']]')}]`
}

/** Without N where it can be: a column of single bytes compared with a text of Unicode is read without its index. */
function literal(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with these.
  return `${/^[\u0000-\u007f]*$/.test(text) ? '' : 'N'}'${text.replaceAll("'", "''")}'`
}

/** https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors */
export function faultOfSqlServer(error: unknown): SqlFault {
  const number = typeof error === 'object' && error !== null && 'number' in error ? Number(error.number) : 0
  const own = errorCode(error)
  const code = number === 0 ? own : `error ${number}`
  const text = error instanceof Error ? error.message : ''
  if (number === 4060 || number === 911) return { kind: 'database_missing', code }
  if (number === 18456 || number === 18470 || number === 18487 || number === 18488 || own === 'ELOGIN')
    return { kind: 'access_denied', code }
  if (number === 229 || number === 230 || number === 916) return { kind: 'rights_missing', code, text }
  if ([102, 103, 105, 156, 207, 208, 209, 1033, 8155, 8156, 319, 4104].includes(number))
    return { kind: 'statement', code, text }
  if ([1222, 1205, 3960].includes(number) || own === 'ETIMEOUT' || own === 'NO_ANSWER')
    return { kind: 'too_slow', code }
  if (/^E(SOCKET|CONNCLOSED|INSTLOOKUP|REQINPROG)$/.test(own)) {
    const inner = networkFault(error instanceof Error ? error.cause : null)
    return inner ?? { kind: /certificate|TLS|SSL/i.test(text) ? 'not_encrypted' : 'unreachable', code }
  }
  return networkFault(error) ?? { kind: 'unexpected', code }
}
