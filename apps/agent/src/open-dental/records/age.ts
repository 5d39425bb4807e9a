import type { SourceAge } from '../../connector.ts'
import type { Database } from '../database/connection.ts'
import { markNewestRows, type RowMarks, tablesWithOtherRows } from './source-rows.ts'

/** The server of a database, as it says itself: '' for a name that it does not know. */
export type ServerIdentity = { readonly id: string; readonly host: string }

/** Which database it was and how far it had come. Stamps and `nowUtc` are `YYYY-MM-DD HH:MM:SS`, UTC, as the database's own clock says. */
type Reached = {
  readonly format: 2
  readonly database: string
  readonly server: ServerIdentity
  readonly nowUtc: string
  readonly databaseVersion: string
  /** Highest keys of tables whose rows Open Dental never deletes, by table. */
  readonly keys: Readonly<Record<string, string>>
  /** The newest change; null while a row has a stamp of later than now, because the clock was wrong. */
  readonly newestStamp: string | null
  readonly rows: RowMarks
}

/** A stamp falls by less when the clock was set back and the newest row was changed again. A backup is older than that. */
const stampToleranceMs = 60 * 60 * 1000

/** What `neverShrinking` reads, by the table that a key is of. */
const keyNames = {
  procedurelog: 'procedurelog.ProcNum',
  patient: 'patient.PatNum',
  histappointment: 'histappointment.HistApptNum',
} as const

/**
 * Compares a database with what was remembered of it. It is another one when its name or its server is, or when a key of its newest rows has another row:
 * after a restore new rows get the keys of those that were lost. It is older when its version is lower, when the newest rows of tables that keep every row
 * are missing, or when its newest change was earlier. A row that a person deletes by hand is different: the table's counter goes on; and
 * after a step of the clock stamps are not compared.
 */
export async function compareAge(
  database: Database,
  now: { nowUtc: string; databaseVersion: string; highest: Readonly<Record<string, string>> },
  remembered: string | null,
): Promise<SourceAge> {
  const before = parse(remembered)
  const { nowUtc, databaseVersion, highest } = now
  // Of a table that cannot be read now, what was remembered stays.
  const keys = Object.fromEntries(
    Object.entries(keyNames).map(([table, name]) => [table, highest[name] ?? before?.keys[table] ?? '0']),
  )
  const stamp = highest['procedurelog.DateTStamp'] ?? before?.newestStamp ?? ''
  const newestStamp = stamp !== '' && stamp <= nowUtc ? stamp : null
  const { name } = database.settings
  const server = await readServer(database)
  const rows = await markNewestRows(database, before?.rows ?? null)
  const found: Reached = { format: 2, nowUtc, databaseVersion, keys, newestStamp, database: name, server, rows }
  const reached = JSON.stringify(found)
  if (before === null) return { reached, wentBack: null }

  const reasons: string[] = []
  if (isLowerVersion(databaseVersion, before.databaseVersion)) {
    reasons.push(`its version is ${databaseVersion}, and was ${before.databaseVersion}`)
  }
  const tables: string[] = []
  for (const [table, key] of Object.entries(before.keys)) {
    if (BigInt(keys[table] ?? '0') < BigInt(key) && (await givesAgain(database, table, key))) tables.push(table)
  }
  if (tables.length > 0) reasons.push(`the newest rows of ${tables.join(' and ')} are missing`)
  const clockWentOn = nowUtc >= before.nowUtc
  if (clockWentOn && before.newestStamp !== null && stamp !== '') {
    if (millisecondsOf(before.newestStamp) - millisecondsOf(stamp) > stampToleranceMs) {
      reasons.push(`its newest change is of ${stamp} UTC, and was of ${before.newestStamp} UTC`)
    }
  }
  const differences: string[] = []
  if (name !== before.database) differences.push(`the one before has the name "${before.database}"`)
  if (isOtherServer(server, before.server))
    differences.push(`it is on the server "${server.host}", and was on "${before.server.host}"`)
  const others = await tablesWithOtherRows(database, before.rows, rows)
  if (others.length > 0) differences.push(`the newest keys of ${others.join(' and ')} belong to other rows than before`)
  if (reasons.length + differences.length === 0) return { reached, wentBack: null }
  const is = reasons.length > 0 ? 'older than what' : 'not the one that'
  const what = `The database "${name}" is ${is} this agent has read before: ${[...reasons, ...differences].join('; ')}. Nothing is sent.`
  return { reached, wentBack: what }
}

/**
 * The names of this server. MySQL keeps a `server_uuid` with its data, newer MariaDB a `server_uid` of its network card and port
 * (https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-system-variables#server_uid).
 */
async function readServer(database: Database): Promise<ServerIdentity> {
  const rows = await database.query(
    `show global variables where Variable_name in ('hostname', 'server_uid', 'server_uuid')`,
  )
  const values = new Map(rows.map((row) => [row.Variable_name?.toLowerCase(), row.Value ?? '']))
  return { id: values.get('server_uuid') ?? values.get('server_uid') ?? '', host: values.get('hostname') ?? '' }
}

/** A computer gets another name, or another network card: only both are another server. Where the server has one of the two, that decides. */
export function isOtherServer(now: ServerIdentity, before: ServerIdentity): boolean {
  const known = ([now.id, before.id] as const).every((id) => id !== '')
  return now.host !== before.host && (!known || now.id !== before.id)
}

/** Whether the table would give this key to a new row: its counter stands before it, as it does in a backup and not after a deletion. */
async function givesAgain(database: Database, table: string, key: string): Promise<boolean> {
  const [row] = await database.query(
    `select AUTO_INCREMENT as next from information_schema.TABLES where TABLE_SCHEMA = database() and TABLE_NAME = ?`,
    [table],
  )
  const next = row?.next ?? null
  return next === null || BigInt(next) <= BigInt(key)
}

function isLowerVersion(version: string, than: string): boolean {
  const [parts, others] = [version, than].map((text) => text.split('.').map(Number))
  for (const [index, other] of (others ?? []).entries()) {
    const part = parts?.[index] ?? 0
    if (part !== other) return part < other
  }
  return false
}

function millisecondsOf(stamp: string): number {
  return Date.parse(`${stamp.replace(' ', 'T')}Z`)
}

function parse(text: string | null): Reached | null {
  if (text === null) return null
  try {
    const reached: unknown = JSON.parse(text)
    return typeof reached === 'object' && reached !== null && 'format' in reached && reached.format === 2
      ? (reached as Reached)
      : null
  } catch {
    return null
  }
}
