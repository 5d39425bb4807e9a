import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { DatabaseStartError } from './start-error.ts'

/**
 * What holds in every session, whatever the server, the database, the role, the address and the environment set: how values are written and read
 * as text, and what a statement means. Chapters "Client Connection Defaults" and "Version and Platform Compatibility" of PostgreSQL's manual.
 */
const sessionSettings: Readonly<Record<string, string>> = {
  client_encoding: 'UTF8',
  bytea_output: 'hex',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  quote_all_identifiers: 'off',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
  // Only in the place of `off`: a replica may have to confirm as well.
  synchronous_commit: 'on',
}

type Client = Pick<pg.ClientBase, 'query'>

/**
 * Sets what holds in a session, and `more`: the first statement on each connection, because a connection pooler refuses such settings at the start of
 * a connection.
 */
export async function beginSession(client: Client, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const settings = { ...sessionSettings, ...more }
  await client.query(
    `select set_config(name, value, false)
       from unnest($1::text[], $2::text[]) as one (name, value)
      where name <> 'synchronous_commit' or current_setting(name) = 'off'`,
    [Object.keys(settings), Object.values(settings)],
  )
}

/** One connection, outside of a pool and without its time limits, whose session has begun. To be ended by the caller. */
export async function openSession(url: string, config: Omit<pg.ClientConfig, 'connectionString'>): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true, ...config })
  // A session that ends between two statements would end the process; the next statement fails and tells the caller.
  client.on('error', () => {})
  try {
    await client.connect()
    await beginSession(client)
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/**
 * Throws a DatabaseStartError where the sessions at an address do not keep their settings from one statement to the next, because a pooler gives each
 * transaction another session: the one that was used the longest ago, or the last one, which the transaction of the other client then has.
 */
export async function requireSessions(url: string): Promise<void> {
  const open = () => openSession(url, { application_name: 'bridgework: check of sessions', query_timeout: 10_000 })
  const client = await open()
  const other = await open().catch(async (error: unknown) => {
    await client.end()
    throw error
  })
  try {
    const marker = randomUUID()
    await client.query(`select set_config('bridgework.session', $1, false)`, [marker])
    await requireSettings(client, marker)
    await other.query('begin')
    await requireSettings(client, marker)
  } finally {
    await Promise.all([client.end(), other.end()])
  }
}

async function requireSettings(client: pg.Client, marker: string): Promise<void> {
  const expected = { ...sessionSettings, 'bridgework.session': marker }
  const { rows } = await client.query<{ name: string }>(
    `select name
       from unnest($1::text[], $2::text[]) as expected (name, value)
      where case name when 'synchronous_commit' then current_setting(name) = 'off'
                      else current_setting(name, true) is distinct from value end`,
    [Object.keys(expected), Object.values(expected)],
  )
  if (rows.length === 0) return
  throw new DatabaseStartError(
    `The database does not keep the settings of a session (${rows.map(({ name }) => name).join(', ')}): a connection pooler gives each transaction another session. Connect to PostgreSQL itself, or let the pooler give each connection one session (PgBouncer: pool_mode = session).`,
  )
}
