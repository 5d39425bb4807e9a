import pg from 'pg'
import type { Log } from '../log/log-event.ts'
import { createHosts } from './hosts.ts'
import { preparing } from './hot/prepared.ts'
import { close, withTimeLimit } from './hot/timed-client.ts'
import { beginSession, requireRoleSettings, statementTimeoutMs as usualTimeoutMs } from './session.ts'
import { DatabaseStartError } from './start-error.ts'
import { databaseErrorCode, isDatabaseUnavailable, isSessionAlive } from './unavailable.ts'

export { isDatabaseUnavailable } from './unavailable.ts'

export type PoolOptions = {
  /** Connections at most. */
  max: number
  /** Connections that stay open, however long nothing is asked; absent: none, each is closed after `idleTimeoutMs`. */
  min?: number
  log: Log
  /** What `pg_stat_activity` shows. */
  applicationName: string
  /** A statement is given up by the server after this long, and by us a second later when the server cannot even say so. */
  statementTimeoutMs?: number
  idleTimeoutMs?: number
  /** What holds in each of its sessions besides what holds in all. */
  settings?: Readonly<Record<string, string>>
  /** Whether a pooler gives each transaction another session: then all settings must come with the role, and none can be the pool's own. */
  sharesSessions?: boolean
}

/**
 * A pool on the database at `url`. Waiting for a connection ends after 5 s, a statement after `statementTimeoutMs` (5 s), so a request
 * behind a dead network learns it soon. `bigint`, `numeric` and `date` arrive as text: a JS number or Date would lose digits or move the day.
 */
export function createPool(url: string, options: PoolOptions): pg.Pool {
  const { settings, statementTimeoutMs = usualTimeoutMs, sharesSessions = false } = options
  if (sharesSessions && (settings || statementTimeoutMs !== usualTimeoutMs))
    throw new Error('settings of a pool need sessions of its own')
  const hosts = createHosts(url, withTimeLimit(statementTimeoutMs + 1_000))
  const pool = new pg.Pool({
    connectionString: hosts.connectionString,
    max: options.max,
    min: options.min ?? 0,
    // A pooler would set it anew each time that a session goes to a pool of another name.
    application_name: sharesSessions ? 'bridgework' : options.applicationName,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: options.idleTimeoutMs ?? 30_000,
    Client: hosts.Client,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types: { getTypeParser },
    // pg waits for the promise before it hands the connection out.
    onConnect: async (client) => {
      try {
        if (sharesSessions) await requireRoleSettings(client)
        else await beginSession(client, { ...settings, statement_timeout: String(statementTimeoutMs) })
      } catch (error) {
        hosts.forget()
        throw error
      }
    },
  })
  const onError = (error: unknown) => {
    // `end` does not wait until its sessions are gone: their errors when the database stops next are of no interest.
    if (!pool.ending) options.log({ event: 'database.unavailable', code: databaseErrorCode(error) })
  }
  pool.on('error', onError)
  // A client that is out of the pool raises its own error when the server ends the session between two statements; without a listener
  // the process dies. The next statement fails and tells the caller, so there is nothing to do here.
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  leaveWhenReadOnly(pool, hosts.forget)
  return pool
}

/**
 * After a connection that failed, the next one looks again for the server that takes writes. As soon as one is found to take none, all are closed: another
 * server may be the primary now, and what this one has is old.
 */
function leaveWhenReadOnly(pool: pg.Pool, forget: () => void): void {
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', (client) => clients.add(client))
  pool.on('remove', (client) => clients.delete(client))
  pool.on('release', (error: unknown) => {
    if (error) forget()
    if (databaseErrorCode(error) !== '25006') return
    for (const client of clients) close(client)
  })
}

/**
 * Runs `work` in one READ COMMITTED transaction on one connection: committed when it returns, rolled back when it throws. The client is
 * the caller's only until `work` ends. Throws when the commit did not commit, also when `work` swallowed a failed statement's error.
 * `prepares`: each statement with values is planned once for a connection, and by indexes alone: a plan may be made while the tables are empty.
 */
export async function withTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query(beginStatement(options))
    const result = await work(options.prepares ? preparing(client) : client)
    const commit = await client.query('commit')
    if (commit.command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed')
    return result
  } catch (error) {
    broken = await rollBack(client, error)
    throw error
  } finally {
    client.release(broken)
  }
}

/** Refuses a server that lacks what our SQL uses (`transaction_timeout` came with 17), in one line. */
export async function requireSupportedPostgres(connection: Pick<pg.Pool, 'query'>): Promise<void> {
  const answer = await connection.query<{ number: number; version: string }>(
    `select current_setting('server_version_num')::integer as number, current_setting('server_version') as version`,
  )
  const [server] = answer.rows
  if (server && server.number < 170_000) {
    throw new DatabaseStartError(`PostgreSQL ${server.version} is too old: Bridgework needs PostgreSQL 17 or newer.`)
  }
}

type TransactionOptions = { transactionTimeoutMs?: number; lockTimeoutMs?: number; prepares?: boolean }

function beginStatement(options: TransactionOptions): string {
  const statements = ['begin isolation level read committed']
  if (options.transactionTimeoutMs !== undefined) {
    statements.push(`set local transaction_timeout = ${Math.round(options.transactionTimeoutMs)}`)
  }
  if (options.lockTimeoutMs !== undefined)
    statements.push(`set local lock_timeout = ${Math.round(options.lockTimeoutMs)}`)
  if (options.prepares) {
    statements.push('set local plan_cache_mode = force_generic_plan', 'set local enable_seqscan = off')
  }
  return statements.join('; ')
}

/** Gives the error with which the client must leave the pool, or undefined when it is clean again. */
async function rollBack(client: pg.PoolClient, error: unknown): Promise<Error | undefined> {
  if (isDatabaseUnavailable(error) && !isSessionAlive(error))
    return error instanceof Error ? error : new Error('broken')
  try {
    await client.query('rollback')
    return undefined
  } catch (failure) {
    return failure instanceof Error ? failure : new Error('broken')
  }
}

function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === DATE) return (value: unknown) => value
  const parse = pg.types.getTypeParser(oid, format as 'text')
  return oid === TIMESTAMP || oid === TIMESTAMPTZ ? (text: string) => instantOf(parse(text)) : parse
}

/** pg gives null for an instant that is written in another style than ISO: what has ended would never have. */
function instantOf(parsed: unknown): unknown {
  if (parsed === null) throw new Error('the database wrote an instant in an unknown style')
  return parsed
}

const { DATE, TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins
