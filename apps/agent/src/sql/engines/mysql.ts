import { createConnection, escapeId, escape as escapeText, type FieldPacket, type TypeCastField } from 'mysql2'
import { tlsOptions } from '../../open-dental/database/connection.ts'
import { type Query, rowsPerChunk, type SqlSession, sqlOf } from '../session.ts'
import type { SqlSettings } from '../settings.ts'
import { errorCode, inTime, networkFault, type SqlFault } from '../sql-problem.ts'

/** A session of MySQL or MariaDB; InnoDB's tables in one snapshot. */
export async function openMysql(settings: SqlSettings): Promise<SqlSession> {
  const ssl = tlsOptions(settings)
  const connection = createConnection({
    ...(ssl === null || settings.socket !== null ? {} : { ssl }),
    ...(settings.socket === null
      ? { host: settings.host, port: settings.port ?? 3306 }
      : { socketPath: settings.socket }),
    user: settings.user,
    password: settings.password,
    database: settings.name,
    charset: 'utf8mb4',
    timezone: 'Z',
    connectTimeout: 10_000,
    flags: ['-LOCAL_FILES'],
    typeCast: textOf,
    rowsAsArray: true,
  })
  // Without a listener a connection that dies between two statements would end the process.
  connection.on('error', () => {})
  const giveUp = () => connection.destroy()
  const run = async (sql: string): Promise<(string | null)[][]> => {
    const answer = new Promise<unknown>((resolve, reject) => {
      connection.query(sql, (error, rows) => (error ? reject(error) : resolve(rows)))
    })
    const rows = await inTime(answer, giveUp)
    return Array.isArray(rows) ? (rows as (string | null)[][]) : []
  }
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('connect', () => resolve())
      connection.once('error', reject)
    })
    const [[version = '', now = ''] = []] = (await run(
      "select version(), date_format(utc_timestamp(), '%Y-%m-%dT%H:%i:%sZ')",
    )) as string[][]
    const [[, tls = ''] = []] = (await run("show session status like 'Ssl_version'")) as string[][]
    await run(
      "set session time_zone = '+00:00', lock_wait_timeout = 10, wait_timeout = 3600, net_write_timeout = 600, sql_mode = replace(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')",
    )
    const mayWrite = await rightToWrite(run)
    // Tables of engines without transactions stay locked while their rows are sent, unless the server first copies the result.
    const [[plain = '0'] = []] = await run(
      "select count(*) from information_schema.TABLES where TABLE_SCHEMA = database() and ENGINE in ('MyISAM', 'Aria', 'MEMORY')",
    )
    await run('start transaction with consistent snapshot, read only')
    const first = plain === '0' ? '' : 'sql_buffer_result '
    return {
      version: /mariadb/i.test(version) ? `MariaDB ${version.replace(/-.*/, '')}` : `MySQL ${version}`,
      hasSnapshot: plain === '0',
      encryption: tls || null,
      mayWrite,
      rightsAreKnown: true,
      readerStatements: `create user bridgework@'${settings.socket === null ? '%' : 'localhost'}' identified by '…'; grant select on ${escapeId(settings.name)}.* to bridgework@'${settings.socket === null ? '%' : 'localhost'}';`,
      now: new Date(now),
      quoted: (column) => escapeId(column, true),
      joined: (first, last) => `concat_ws(' ', ${first}, ${last})`,
      literal: (text) => escapeText(text),
      timeLiteral: (text) => escapeText(text.replace('T', ' ')),
      // Of numbers, or a text would be compared as a float of 53 bits.
      versionLiteral: (text) => (/^\d{1,20}$/.test(text) ? text : escapeText(text)),
      settledVersion: async () => null,
      read: async function* (query: Query) {
        const list = query.columns?.map((column) => escapeId(column, true)).join(', ') ?? '*'
        const command = connection.query(sqlOf(query, `${first}${list}`, true))
        let columns: string[] = []
        command.on('fields', (fields: FieldPacket[] | undefined) => {
          columns = (fields ?? []).map(({ name }) => name)
        })
        const stream = command.stream({ highWaterMark: rowsPerChunk })
        const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<(string | null)[]>
        let rows: (string | null)[][] = []
        let isFirst = true
        let isDone = false
        try {
          for (;;) {
            const next = await inTime(iterator.next(), giveUp)
            if (next.done) break
            rows.push(next.value)
            if (rows.length < rowsPerChunk) continue
            yield { columns, rows }
            isFirst = false
            rows = []
          }
          isDone = true
          if (isFirst || rows.length > 0) yield { columns, rows }
        } catch (error) {
          isDone = true
          throw error
        } finally {
          // The connection gives no other answer before this one has ended.
          while (!isDone) isDone = (await inTime(iterator.next(), giveUp)).done === true
        }
      },
      end: async () => {
        await new Promise<void>((resolve) => {
          connection.end(() => resolve())
          setTimeout(resolve, 1000).unref()
        })
        connection.destroy()
      },
    }
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** Every value as the database writes it; a TIMESTAMP is an instant, in UTC by the session's time zone. */
function textOf(field: TypeCastField): string | null {
  if (field.type === 'BIT') {
    const bytes = field.buffer()
    return bytes === null ? null : String(BigInt(`0x${bytes.toString('hex') || '0'}`))
  }
  const text = field.string('utf8')
  return field.type === 'TIMESTAMP' && text !== null && !text.startsWith('0000') ? `${text}Z` : text
}

/** Of this account and its roles: the first right besides reading. */
async function rightToWrite(run: (sql: string) => Promise<(string | null)[][]>): Promise<string | null> {
  const asks =
    '(usage|select|show view|show databases|process|lock tables|replication client|replica monitor|slave monitor|binlog monitor)( \\(.*?\\))?'
  const readsOnly = new RegExp(`^grant ${asks}(, ${asks})* on (?!.* with grant option)`, 'i')
  const grants = (await run('show grants')).flatMap(([grant]) => grant ?? [])
  for (const grant of grants) {
    const role = /^grant (\S+) to /i.exec(grant)?.[1]
    const own = role === undefined ? [grant] : (await run(`show grants for ${role}`)).flatMap(([each]) => each ?? [])
    const more = own.find((each) => !readsOnly.test(each) && !/^(grant \S+ to|set default role) /i.test(each))
    if (more !== undefined) return more.replace(/ identified by .*$/i, '').replace(/ to .*$/i, '')
  }
  return null
}

/** https://mariadb.com/kb/en/mariadb-error-code-reference/ and https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html */
export function faultOfMysql(error: unknown): SqlFault {
  const code = errorCode(error)
  const number = typeof error === 'object' && error !== null && 'errno' in error ? Number(error.errno) : 0
  const text = error instanceof Error ? error.message : ''
  if ([1045, 1130, 1698, 1251, 1820, 1862, 4151, 3118].includes(number)) return { kind: 'access_denied', code }
  if (number === 1049 || number === 1044) return { kind: 'database_missing', code }
  if ([1142, 1143, 1370].includes(number)) return { kind: 'rights_missing', code, text }
  if ([1054, 1064, 1146, 1060, 1052, 1305, 1248].includes(number)) return { kind: 'statement', code, text }
  if ([1205, 1969, 3024].includes(number) || code === 'NO_ANSWER') return { kind: 'too_slow', code }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT' || number === 3159) return { kind: 'not_encrypted', code }
  if ([1040, 1053, 1203, 1226, 1927, 2013].includes(number) || /^PROTOCOL_|closed state|fatal error/.test(code + text))
    return { kind: 'unreachable', code }
  return networkFault(error) ?? { kind: 'unexpected', code }
}
