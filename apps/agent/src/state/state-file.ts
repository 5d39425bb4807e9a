import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The state cannot be used: another agent has it open, or the file is something else. */
export class StateUnusable extends Error {}

/** Opens the state file with its tables, for this process alone. Throws `StateUnusable`. */
export function openStateFile(path: string): DatabaseSync {
  const database = openFile(path)
  dropOlder(database)
  database.exec(schema)
  return database
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
    if (error instanceof Error && /locked|busy/.test(error.message)) {
      throw new StateUnusable(`Another agent is running with the state file ${path}. Stop that agent first.`)
    }
    if (error instanceof Error && /not a database/.test(error.message)) {
      throw new StateUnusable(
        `${path} is not a state file of this agent. Move it away, or set another path in state_path.`,
      )
    }
    throw error
  }
  return database
}
