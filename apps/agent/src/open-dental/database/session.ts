import { type NotesRead, noNotes, SourceProblem } from '../../connector.ts'
import { notesTable, tablesOfNewerVersions, tablesRead } from '../changes/tables-read.ts'
import { findUnreadable } from '../changes/unreadable.ts'
import { connectDatabase, type Database, type Row, statementSecondsMax } from './connection.ts'
import type { DatabaseSettings } from './database-settings.ts'
import { type Replica, readReplica } from './replica.ts'

/** A connection that is set to read-only, UTC and a bounded statement time, with what it found out on the way. */
export type Session = {
  readonly database: Database
  readonly serverVersion: string
  /** The database server's clock as the session began, UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly nowUtc: string
  /** The zone that the server's wall times are in, as it names it: an IANA name, an abbreviation or an offset. */
  readonly serverZone: string
  /** How far the server's wall clock is ahead of UTC now. */
  readonly offsetSeconds: number
  /** As `table.Column`. */
  readonly columns: ReadonlySet<string>
  /** The datasets whose notes are read: of no other is a column with a note in any statement. */
  readonly notes: NotesRead
  /** Whether the database is another's copy, and how old. */
  readonly replica: Replica
  /** False where columns of both UTF-8s are read, so that the server shows bytes that are not valid in the older one as "?". */
  readonly showsInvalidText: boolean
}

export type Guard = {
  readonly databaseVersion: string
  readonly programVersion: string | null
  readonly updateInProgressOn: string
}

export async function openSession(settings: DatabaseSettings, notes = noNotes): Promise<Session> {
  const database = await connectDatabase(settings)
  try {
    // The server's own zone is read first: after `set time_zone` the answer would be ours.
    const [clock] = await database.query(
      `select version() as version, @@global.time_zone as global_zone, @@system_time_zone as os_zone,
              timestampdiff(second, utc_timestamp(), now()) as offset_seconds,
              date_format(utc_timestamp(), '%Y-%m-%d %H:%i:%s') as now_utc`,
    )
    for (const statement of sessionStatements(clock?.version ?? '')) await database.query(statement)
    const columns = await readColumns(database)
    const results = resultsCharset(columns.map((row) => row.charset))
    await database.query(`set session character_set_results = ${results.charset}`)
    const names = new Set(columns.map((row) => `${row.table_name}.${row.column_name}`))
    await findUnreadable(database, { columns: names, notes })
    return {
      database,
      notes,
      serverVersion: clock?.version ?? '',
      nowUtc: clock?.now_utc ?? '',
      serverZone: (clock?.global_zone === 'SYSTEM' ? clock.os_zone : clock?.global_zone) ?? '',
      offsetSeconds: Number(clock?.offset_seconds ?? 0),
      replica: await readReplica(database, clock?.version ?? ''),
      columns: names,
      showsInvalidText: results.showsInvalidText,
    }
  } catch (error) {
    await database.end()
    throw error
  }
}

/**
 * What is set on a new session, by the server's `version()`. MariaDB counts `max_statement_time` in seconds, MySQL
 * `max_execution_time` in milliseconds (from 5.7.8); a read-only session came with MySQL 5.6.
 */
export function sessionStatements(version: string): string[] {
  // A server may close idle connections after seconds, and writes of results that pause: the agent leaves the server to the office meanwhile.
  const common = [
    "set session time_zone = '+00:00', lock_wait_timeout = 10, wait_timeout = 3600, net_write_timeout = 600",
  ]
  const readOnly = 'set session transaction read only'
  if (/mariadb/i.test(version)) return [...common, readOnly, `set session max_statement_time = ${statementSecondsMax}`]
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  const isAtLeast = (otherMinor: number, otherPatch: number) =>
    major > 5 || (major === 5 && (minor > otherMinor || (minor === otherMinor && patch >= otherPatch)))
  return [
    ...common,
    ...(isAtLeast(6, 5) ? [readOnly] : []),
    // It would otherwise answer for a day with what it knew when it was asked first.
    ...(major >= 8 ? ['set session information_schema_stats_expiry = 0'] : []),
    ...(isAtLeast(7, 8) ? [`set session max_execution_time = ${statementSecondsMax * 1000}`] : []),
  ]
}

/**
 * The encoding in which texts are asked for. The server converts what is stored in another one, and what is not valid there becomes a "?" that
 * cannot be distinguished from one that was typed; without a conversion the bytes arrive. The older UTF-8 holds all of latin1 and ascii.
 */
export function resultsCharset(charsets: readonly (string | null | undefined)[]): {
  charset: string
  showsInvalidText: boolean
} {
  const present = new Set(charsets.filter((charset) => charset !== null && charset !== undefined))
  const older = ['utf8mb3', 'utf8'].find((charset) => present.has(charset))
  if (older === undefined) return { charset: 'utf8mb4', showsInvalidText: true }
  const isConverted = [...present].some((charset) => !['utf8mb3', 'utf8', 'latin1', 'ascii'].includes(charset))
  return isConverted ? { charset: 'utf8mb4', showsInvalidText: false } : { charset: older, showsInvalidText: true }
}

/** The columns that this user may read, with the encodings of texts: probed, because a version number says less than the table. */
async function readColumns(database: Database): Promise<Row[]> {
  const tables = [...tablesRead, ...tablesOfNewerVersions, notesTable].map((table) => `'${table}'`)
  return await database.query(
    `select lower(TABLE_NAME) as table_name, COLUMN_NAME as column_name, CHARACTER_SET_NAME as charset
       from information_schema.COLUMNS
      where TABLE_SCHEMA = database() and lower(TABLE_NAME) in (${tables.join(', ')})`,
  )
}

async function readGuard(database: Database): Promise<Guard> {
  const rows = await database.query(
    `select PrefName as name, ValueString as value
       from preference
      where PrefName in ('DataBaseVersion', 'ProgramVersion', 'UpdateInProgressOnComputerName')`,
  )
  const values = new Map(rows.map((row) => [row.name, row.value]))
  const databaseVersion = values.get('DataBaseVersion') ?? ''
  if (databaseVersion === '') {
    throw new SourceProblem(
      'not_open_dental',
      `The database "${database.settings.name}" is not an Open Dental database: its preferences hold no DataBaseVersion.`,
      'Correct the database name; Open Dental shows it in its "Choose Database" window. It is usually "opendental".',
    )
  }
  return {
    databaseVersion,
    programVersion: values.get('ProgramVersion') || null,
    updateInProgressOn: (values.get('UpdateInProgressOnComputerName') ?? '').trim(),
  }
}

/**
 * An upgrade renames a big table away, makes it anew and refills it in batches, so a reader in between sees most rows
 * gone. The flag is set before that begins, so what was read before a quiet `assertQuiet` was read from whole tables.
 */
export async function assertQuiet(database: Database, expectedVersion?: string): Promise<Guard> {
  const guard = await readGuard(database)
  if (guard.updateInProgressOn !== '') {
    throw new SourceProblem(
      'update_in_progress',
      'Open Dental is being updated; nothing is read meanwhile.',
      'Nothing to do: the agent goes on when the update has ended. If no update is running, start Open Dental once on the computer that ran it.',
    )
  }
  if (expectedVersion !== undefined && guard.databaseVersion !== expectedVersion) {
    throw new SourceProblem(
      'version_changed',
      'Open Dental was updated while its data was being read; what was read is not relied on.',
      'Nothing to do: the agent reads everything anew at its next cycle.',
    )
  }
  return guard
}
