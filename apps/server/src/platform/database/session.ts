import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { createHosts, isReadOnly } from './hosts.ts'
import { searchPath } from './schemas.ts'
import { DatabaseStartError } from './start-error.ts'
import { databaseErrorCode, readOnlyError } from './unavailable.ts'

/**
 * What holds in every session, whatever the server, the database, the role, the address and the environment set: how values are written and read
 * as text, what a statement means, and in which schemas its tables are. Chapters "Client Connection Defaults" and "Version and Platform Compatibility" of PostgreSQL's manual.
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
  search_path: searchPath,
  // Only in the place of `off`: a replica may have to confirm as well.
  synchronous_commit: 'on',
}

/** How long a statement of the service may take at most, unless its pool says otherwise. */
export const statementTimeoutMs = 5_000

type Client = Pick<pg.ClientBase, 'query'>

/**
 * Sets what holds in a session, and `more`: the first statement on each connection, because a connection pooler refuses such settings at the start of
 * a connection. Throws 25006 where the session takes no writes.
 */
export async function beginSession(client: Client, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const settings = { ...sessionSettings, ...more }
  const { rows } = await client.query<{ is_read_only: boolean }>(
    `select ${isReadOnly} as is_read_only, (
       select count(set_config(name, value, false))
         from unnest($1::text[], $2::text[]) as one (name, value)
        where name <> 'synchronous_commit' or current_setting(name) = 'off')`,
    [Object.keys(settings), Object.values(settings)],
  )
  if (rows[0]?.is_read_only) throw readOnlyError()
}

/**
 * In the place of `beginSession` where a pooler gives each transaction another session: nothing is set, because it would stay for the client that gets
 * the session next, and the same settings must come with the role. Throws a DatabaseStartError that says how to give them to it.
 */
export async function requireRoleSettings(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string; value: string; role: string; is_read_only: boolean }>(
    `select name, value, format('%I in database %I', current_user, current_database()) as role, ${isReadOnly} as is_read_only
       from (select null, null
              union all
             select name, value
               from unnest($1::text[], $2::text[]) as expected (name, value)
              where case name when 'synchronous_commit' then current_setting(name) = 'off'
                              when 'statement_timeout' then current_setting(name)::interval not between '1ms' and value::interval
                              -- A path is stored with quotes where quote_all_identifiers was on.
                              else replace(current_setting(name), '"', '') is distinct from value end) wrong (name, value)
      order by name nulls first`,
    [Object.keys(roleSettings), Object.values(roleSettings)],
  )
  if (rows[0]?.is_read_only) throw readOnlyError()
  const wrong = rows.slice(1)
  if (wrong.length === 0) return
  // In quotes, several schemas would be the name of one.
  const statements = wrong.map(
    ({ name, value, role }) => `alter role ${role} set ${name} = ${name === 'search_path' ? value : `'${value}'`};`,
  )
  throw new DatabaseStartError(
    `The sessions that the pooler of DATABASE_URL gives lack settings that results depend on. As a superuser of the database, run: ${statements.join(' ')} Then let the pooler open new sessions (PgBouncer: RECONNECT in its console, or a restart).`,
  )
}

const roleSettings = { ...sessionSettings, statement_timeout: `${statementTimeoutMs / 1_000}s` }

/** One connection, outside of a pool and without its time limits, whose session has begun. To be ended by the caller. */
export async function openSession(url: string, config: Omit<pg.ClientConfig, 'connectionString'>): Promise<pg.Client> {
  return await open(url, config, beginSession)
}

async function open(
  url: string,
  config: Omit<pg.ClientConfig, 'connectionString'>,
  begin: (client: pg.Client) => Promise<void>,
): Promise<pg.Client> {
  const { Client, connectionString } = createHosts(url)
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000, keepAlive: true, ...config })
  // A session that ends between two statements would end the process; the next statement fails and tells the caller.
  client.on('error', () => {})
  try {
    await client.connect()
    await begin(client)
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/**
 * Throws a DatabaseStartError where the connections at an address do not keep their sessions from one statement to the next, because a pooler gives each
 * transaction another one: the one that was used the longest ago, or the last one, which the transaction of the other client then has. Sets nothing in
 * any of them.
 */
export async function requireSessions(url: string): Promise<void> {
  await withTwo(url, async (client, other) => {
    const first = await sessionOf(client)
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await other.query('begin')
      const later = await sessionOf(client)
      await other.query('rollback')
      if (later === first) continue
      throw new DatabaseStartError(
        'A connection pooler gives each transaction another session of the database (PgBouncer: pool_mode = transaction). Set BRIDGEWORK_DIRECT_DATABASE_URL to the address of PostgreSQL itself, with the role of DATABASE_URL, for what needs a session, and BRIDGEWORK_MIGRATION_DATABASE_URL to PostgreSQL itself too; or let the pooler give each connection one session (pool_mode = session).',
      )
    }
  })
}

/**
 * Throws a DatabaseStartError where the service cannot work through the pooler at `url`, whose database is the one at `directUrl`: where the role lacks
 * settings, where a statement that one session has prepared is unknown in the next one, and where it leads to another database.
 */
export async function requirePooler(url: string, directUrl: string): Promise<void> {
  const lock = String(randomInt(2 ** 47))
  await withTwo(url, async (client, other) => {
    await requireRoleSettings(client)
    const ask = () => client.query({ name: 'bridgework-check', text: 'select $1::text', values: [''] })
    await ask()
    await other.query('begin')
    await other.query(`select pg_advisory_xact_lock(${lock})`)
    await ask().catch((error: unknown) => {
      // invalid_sql_statement_name: this session has none of that name.
      if (databaseErrorCode(error) !== '26000') throw error
      throw new DatabaseStartError(
        `The pooler of DATABASE_URL does not carry prepared statements from one session to the next. Use PgBouncer 1.21 or newer, with max_prepared_statements = 200.`,
      )
    })
    await requireSessions(directUrl)
    const direct = await openSession(directUrl, checkOptions)
    try {
      const { rows } = await direct.query(
        `select from (select pg_try_advisory_xact_lock(${lock}) as is_free) one where is_free`,
      )
      if (rows.length === 0) return
      throw new DatabaseStartError('DATABASE_URL and BRIDGEWORK_DIRECT_DATABASE_URL lead to different databases.')
    } finally {
      await direct.end()
    }
  })
}

const checkOptions = { application_name: 'bridgework: check of sessions', query_timeout: 10_000 }

/** On two connections to one address, whose sessions are as they are given. */
async function withTwo(url: string, work: (client: pg.Client, other: pg.Client) => Promise<void>): Promise<void> {
  const asGiven = async () => {}
  const client = await open(url, checkOptions, asGiven)
  try {
    const other = await open(url, checkOptions, asGiven)
    try {
      await work(client, other)
    } finally {
      await other.end()
    }
  } finally {
    await client.end()
  }
}

async function sessionOf(client: pg.Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
}
