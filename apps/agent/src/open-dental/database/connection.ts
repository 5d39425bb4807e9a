import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createConnection, type SslOptions } from 'mysql2/promise'
import type { SourceProblem } from '../../connector.ts'
import { type MendedCounts, mendedCounts, mendRows } from '../records/mended-values.ts'
import { authoritiesUnusable, databaseProblem } from './database-problem.ts'
import type { DatabaseSettings } from './database-settings.ts'

/** Every column as text, as the database wrote it: 64-bit keys, decimals and dates lose nothing on the way. See `mendRows`. */
export type Row = Readonly<Record<string, string | null>>

export type Database = {
  readonly settings: DatabaseSettings
  /** What of the rows so far could not be sent as it is. */
  readonly mended: MendedCounts
  /** Tables that could not be read on this connection, and why: datasets that need one of them stop, the others go on. */
  readonly unreadable: Map<string, SourceProblem>
  /** The rows, mended. */
  query(sql: string, values?: readonly string[]): Promise<Row[]>
  /** How long the slowest statement took since this was last asked. */
  takeSlowestMs(): number
  end(): Promise<void>
}

/** Longest time one statement may run. A slow statement on MyISAM tables holds up every workstation of the office. */
export const statementSecondsMax = 15

/**
 * Opens one connection. Results are buffered on our side, because a half-read result on MyISAM keeps writers waiting.
 * LOAD DATA LOCAL is off: a server must not be able to ask for our files.
 */
export async function connectDatabase(settings: DatabaseSettings): Promise<Database> {
  const ssl = tlsOptions(settings)
  const connection = await createConnection({
    ...(ssl === null ? {} : { ssl }),
    ...(settings.socket === null ? { host: settings.host, port: settings.port } : { socketPath: settings.socket }),
    user: settings.user,
    password: settings.password,
    database: settings.name,
    charset: 'utf8mb4',
    timezone: 'Z',
    connectTimeout: 10_000,
    flags: ['-LOCAL_FILES'],
    // The session's `character_set_results` is one of UTF-8's, whatever a column's own.
    typeCast: (field) => field.string('utf8'),
  }).catch((error: unknown) => {
    throw databaseProblem(error, settings)
  })
  // Without a listener a connection that dies between two statements would end the process.
  connection.on('error', () => {})
  const mended = mendedCounts()
  const unreadable = new Map<string, SourceProblem>()
  let slowestMs = 0
  return {
    settings,
    mended,
    unreadable,
    query: async (sql, values = []) => {
      // The database's own limit comes first; this one is for a server that stopped answering.
      const timeout = (statementSecondsMax + 15) * 1000
      try {
        const startedAt = performance.now()
        const [rows, fields] = await connection.query({ sql, timeout }, [...values])
        slowestMs = Math.max(slowestMs, performance.now() - startedAt)
        return mendRows(asRows(rows), fields ?? [], mended)
      } catch (error) {
        const problem = databaseProblem(error, settings, sql)
        if (problem.place !== null) unreadable.set(problem.place.table, problem)
        throw problem
      }
    },
    takeSlowestMs: () => {
      const slowest = slowestMs
      slowestMs = 0
      return slowest
    },
    end: async () => {
      await connection.end().catch(() => connection.destroy())
    },
  }
}

/** What the driver is told. A file of authorities is read for each connection, so that a new one is used without a restart. */
export function tlsOptions({ tls }: Pick<DatabaseSettings, 'tls'>): SslOptions | null {
  if (tls === undefined || tls === null) return null
  if (tls.mode === 'required') return { rejectUnauthorized: false }
  const ca = tls.caFile === null ? {} : { ca: readAuthorities(tls.caFile) }
  return { ...ca, rejectUnauthorized: true, verifyIdentity: true }
}

/** The certificates of a file, in PEM. Throws a `SourceProblem` when it holds none. */
export function readAuthorities(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw authoritiesUnusable(`The file ${path} cannot be read`, error)
  }
  try {
    // Node takes a file without any certificate, and then refuses every server, which would look like the server's fault.
    new X509Certificate(text)
  } catch (error) {
    throw authoritiesUnusable(`The file ${path} does not begin with a certificate in PEM`, error)
  }
  return text
}

/** True by `typeCast` above: each column is text or null. A statement without a result set gives no rows. */
function asRows(result: unknown): Record<string, string | null>[] {
  return Array.isArray(result) ? (result as Record<string, string | null>[]) : []
}
