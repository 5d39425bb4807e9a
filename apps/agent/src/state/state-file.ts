import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The state cannot be used, said in words for the office. `isDamaged`: opening it again sets it aside. */
export class StateUnusable extends Error {
  readonly todo: string
  readonly isDamaged: boolean

  constructor(what: string, todo: string, { isDamaged = false, cause }: { isDamaged?: boolean; cause?: unknown } = {}) {
    super(what, { cause })
    this.todo = todo
    this.isDamaged = isDamaged
  }
}

/**
 * Opens the state file with its tables, for this process alone. A damaged one is set aside and a new one begun, which is safe: numbers come from the
 * clock, and the service compares lists. `setAside`: where the damaged one is; null: it was whole. Throws `StateUnusable`.
 */
export function openStateFile(path: string): { database: DatabaseSync; setAside: string | null } {
  try {
    return { database: openWhole(path), setAside: null }
  } catch (error) {
    const problem = stateProblem(path, error)
    if (!problem?.isDamaged) throw problem ?? error
    return { database: replaceDamaged(path), setAside: damagedPath(path) }
  }
}

function damagedPath(path: string): string {
  return `${path}.damaged`
}

function replaceDamaged(path: string): DatabaseSync {
  try {
    // What SQLite has not taken over yet belongs to the damaged file.
    for (const part of ['-wal', '-shm', '-journal']) rmSync(path + part, { force: true })
    renameSync(path, damagedPath(path))
    return openWhole(path)
  } catch (error) {
    throw stateProblem(path, error) ?? error
  }
}

function openWhole(path: string): DatabaseSync {
  const database = openFile(path)
  try {
    const found = database.prepare('pragma quick_check(1)').get()?.quick_check
    if (found !== 'ok') throw damaged(path)
    dropOlder(database)
    database.exec(schema)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** What an error of the file or its disk means; null where it is none of these. Codes: https://www.sqlite.org/rescode.html and the system's. */
export function stateProblem(path: string, error: unknown): StateUnusable | null {
  if (error instanceof StateUnusable) return error
  if (!(error instanceof Error) || !('code' in error)) return null
  const primary = 'errcode' in error ? Number(error.errcode) & 0xff : null
  const told = (what: string, todo: string) => new StateUnusable(what, todo, { cause: error })
  switch (primary ?? error.code) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return told(`Another agent is running with the state file ${path}.`, 'Stop that agent first.')
    case 11: // SQLITE_CORRUPT
      return damaged(path, error)
    case 26: // SQLITE_NOTADB
      return isOfSqlite(path)
        ? damaged(path, error)
        : told(`${path} is not a state file of this agent.`, 'Move it away, or set another path in state_path.')
    case 13: // SQLITE_FULL
    case 'ENOSPC':
    case 'EDQUOT':
      return told(
        `The disk of the state file ${path} is full, so nothing can be sent.`,
        'Make room on it. The agent goes on by itself.',
      )
    case 8: // SQLITE_READONLY
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return told(
        `The state file ${path} cannot be written, so nothing can be sent.`,
        'Give the account of the agent the right to write to the file and its folder, on a disk that is not read-only.',
      )
    case 14: // SQLITE_CANTOPEN
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EISDIR':
      return told(
        `The state file ${path} cannot be opened.`,
        'Check the path (state_path of the settings) and that its folder exists.',
      )
    case 10: // SQLITE_IOERR
    case 'EIO':
      return told(
        `The disk of the state file ${path} has an error.`,
        'Check the disk. If it is sound, restart the agent; if not, set another path in state_path.',
      )
    default:
      return null
  }
}

function damaged(path: string, cause?: unknown): StateUnusable {
  return new StateUnusable(
    `The state file ${path} is damaged.`,
    'Start the agent again: it sets the file aside and compares everything.',
    { isDamaged: true, cause },
  )
}

/** Whether the file is one of SQLite's, or has lost its content: anything else is not ours, and stays where it is. */
function isOfSqlite(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(16)
    const length = readSync(file, head)
    return head.toString('latin1') === 'SQLite format 3\0' || head.subarray(0, length).every((byte) => byte === 0)
  } finally {
    closeSync(file)
  }
}

/** All that `work` writes, or nothing of it and its error. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('begin immediate')
  try {
    const result = work()
    database.exec('commit')
    return result
  } catch (error) {
    try {
      database.exec('rollback')
    } catch {
      // After some errors (a full disk) SQLite has rolled back by itself. This second error would hide the first.
    }
    throw error
  }
}

/** Raised with each change of the tables below. */
const schemaVersion = 3

const schema = `
  create table if not exists setting (name text primary key, value text not null) without rowid;
  create table if not exists upload (number integer primary key, location_id text not null, dataset text not null, body blob not null, bears_on text not null);
  create table if not exists record (
    location_id text not null, dataset text not null, source_id text not null, hash text not null, list_hash text not null,
    bears_on text not null, read_number integer not null default 0,
    primary key (location_id, dataset, source_id)
  ) without rowid;
  create table if not exists recheck (dataset text not null, source_id text not null, primary key (dataset, source_id)) without rowid;
  create table if not exists refused (
    location_id text not null, dataset text not null, source_id text not null,
    hash text not null, errors text not null, tried_at_ms integer not null,
    primary key (location_id, dataset, source_id)
  ) without rowid;
  create table if not exists dataset (dataset text primary key, cursor text not null, full_read_at_ms integer not null) without rowid;
  create table if not exists location_dataset (
    location_id text not null, dataset text not null,
    is_complete integer not null default 0, is_held integer not null default 0,
    primary key (location_id, dataset)
  ) without rowid;
  create table if not exists location (source_id text primary key, document text not null) without rowid;
  create table if not exists digest (series text not null, run integer not null, rows integer not null, digest text not null, primary key (series, run)) without rowid;
  create table if not exists digest_position (id integer primary key check (id = 1), position text not null);
`

/** What a file of an earlier agent remembers may be lost (all is sent again once), but not its numbers. */
function dropOlder(database: DatabaseSync): void {
  if (database.prepare('pragma user_version').get()?.user_version === schemaVersion) return
  for (const table of ['record', 'refused', 'upload', 'dataset', 'location_dataset', 'digest', 'digest_position']) {
    database.exec(`drop table if exists ${table}`)
  }
  database.exec(`pragma user_version = ${schemaVersion}`)
}

/** Uploads hold what patients' records hold: the file is private from its first byte, and deleted bodies are overwritten. */
function openFile(path: string): DatabaseSync {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  }
  chmodSync(path, 0o600)
  const database = new DatabaseSync(path)
  try {
    // Exclusive before WAL: then the lock lasts as long as the connection, and no shared-memory file is made.
    database.exec(
      'pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on; begin exclusive; commit',
    )
  } catch (error) {
    database.close()
    throw error
  }
  return database
}
