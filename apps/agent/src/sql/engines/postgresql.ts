import { Client, DatabaseError, escapeIdentifier, escapeLiteral } from 'pg'
import { readAuthorities } from '../../open-dental/database/connection.ts'
import { type Query, rowsPerChunk, type SqlSession, sqlOf } from '../session.ts'
import type { SqlSettings } from '../settings.ts'
import { errorCode, inTime, networkFault, type SqlFault } from '../sql-problem.ts'

const timestampWithTimeZone = 1184

/** Every value as the database writes it. An instant is written in UTC, which the mapping's rules read as Z. */
const types = {
  getTypeParser: (oid: number) => (text: string | Buffer) =>
    oid === timestampWithTimeZone ? String(text).replace(/\+00$/, 'Z') : String(text),
} as Client['types' & keyof Client]

/** A session of PostgreSQL in one snapshot. Rows come by a cursor, so neither side holds a whole result. */
export async function openPostgresql(settings: SqlSettings): Promise<SqlSession> {
  const client = new Client({
    host: settings.socket ?? settings.host,
    port: settings.port ?? 5432,
    user: settings.user,
    password: settings.password,
    database: settings.name,
    ssl: tlsOf(settings),
    connectionTimeoutMillis: 10_000,
    application_name: 'bridgework-agent',
    types,
  })
  // Without a listener a connection that dies between two statements would end the process.
  client.on('error', () => {})
  const run = async (sql: string) => {
    const answer = client.query({ text: sql, rowMode: 'array' })
    return await inTime(answer, () => void client.end())
  }
  try {
    await client.connect()
    await run(`set default_transaction_read_only = on; set time zone 'UTC'; set datestyle = iso; set intervalstyle = iso_8601;
      set bytea_output = hex; set extra_float_digits = 0; set lock_timeout = '10s'; set idle_in_transaction_session_timeout = 0`)
    const [about = []] = (await run(aboutSql)).rows as string[][]
    await run('begin transaction isolation level repeatable read read only')
    const [version = '', now = '', encryption = null, mayWrite = null] = about
    let cursors = 0

    return {
      version: `PostgreSQL ${version}`,
      hasSnapshot: true,
      encryption,
      mayWrite,
      rightsAreKnown: true,
      readerStatements: `create role bridgework login password '…'; grant pg_read_all_data to bridgework; (before PostgreSQL 14: grant usage on schema public to bridgework; grant select on all tables in schema public to bridgework;)`,
      now: new Date(now),
      quoted: escapeIdentifier,
      joined: (first, last) => `concat_ws(' ', ${first}, ${last})`,
      literal: escapeLiteral,
      timeLiteral: (text) => escapeLiteral(text.replace('T', ' ')),
      versionLiteral: escapeLiteral,
      settledVersion: async () => null,
      read: async function* (query: Query) {
        const cursor = `rows_${++cursors}`
        const fetch = async () => {
          const { fields, rows } = await run(`fetch ${rowsPerChunk} from ${cursor}`)
          return { columns: fields.map(({ name }) => name), rows: rows as (string | null)[][] }
        }
        // An error ends the transaction, and with it the snapshot, unless there is a point to go back to.
        await run(`savepoint ${cursor}`)
        try {
          const list = query.columns?.map(escapeIdentifier).join(', ')
          await run(`declare ${cursor} no scroll cursor for ${sqlOf(query, list, true)}`)
          let chunk = await fetch()
          yield chunk
          while (chunk.rows.length === rowsPerChunk) {
            chunk = await fetch()
            if (chunk.rows.length > 0) yield chunk
          }
          await run(`close ${cursor}`)
        } catch (error) {
          await run(`rollback to savepoint ${cursor}`).catch(() => {})
          throw error
        }
      },
      end: async () => await client.end().catch(() => {}),
    }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** The version, the clock, the encryption, and the first right of this account to write. */
const aboutSql = `
  select current_setting('server_version'), to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         (select version from pg_stat_ssl where pid = pg_backend_pid() and ssl),
         coalesce(
           (select 'superuser' from pg_roles where rolname = current_user and rolsuper),
           (select format('%s on %I.%I', privilege, nspname, relname)
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
              cross join unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) as privilege
             where relkind in ('r', 'p') and nspname not in ('pg_catalog', 'information_schema')
               and nspname not like 'pg\\_%' and has_table_privilege(c.oid, privilege)
             limit 1))`

function tlsOf({ tls, socket }: SqlSettings) {
  if (tls === null || socket !== null) return false
  if (tls.mode === 'required') return { rejectUnauthorized: false }
  return { rejectUnauthorized: true, ...(tls.caFile !== null && { ca: readAuthorities(tls.caFile) }) }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function faultOfPostgresql(error: unknown): SqlFault {
  const code = errorCode(error)
  if (!(error instanceof DatabaseError)) {
    if (error instanceof Error && /does not support SSL/.test(error.message))
      return { kind: 'not_encrypted', code: 'no TLS' }
    if (code === 'NO_ANSWER') return { kind: 'too_slow', code }
    return networkFault(error) ?? { kind: 'unreachable', code }
  }
  if (code === '3D000') return { kind: 'database_missing', code }
  if (code.startsWith('28')) return { kind: 'access_denied', code }
  if (code === '42501') return { kind: 'rights_missing', code, text: error.message }
  if (code.startsWith('42') || code === '0A000') return { kind: 'statement', code, text: error.message }
  if (code === '57014' || code === '55P03') return { kind: 'too_slow', code }
  if (/^(08|57P|53)/.test(code)) return { kind: 'unreachable', code }
  return { kind: 'unexpected', code }
}
