import { realpath, stat } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import type { DatasetName } from '../../dataset-resource.ts'
import { StoreConflictError, type SyncPosition, type SyncStore } from '../../sync/store.ts'
import { appendPrivate } from '../../tokens/private-file.ts'
import { directoryTables, makeFilesPrivate, recordOf, type StoreOptions } from '../layout.ts'
import { tables } from '../tables.generated.ts'
import { openTarget, TargetError } from '../target-error.ts'
import { prepareFile } from './sqlite-layout.ts'
import { createRows, type Database, upsert } from './sqlite-rows.ts'
import { createIndexes } from './sqlite-tables.ts'

/**
 * A copy in a SQLite file (Node 22.13 or newer). Each dataset has a table with a typed column for each attribute, and a view
 * `current_<dataset>` without hidden records and closed locations: `select sum(amount) from current_ledger_transactions`. `raw_record` keeps the records as the
 * service sent them, for verification. A file of an earlier layout is brought to this one when it is opened, as a whole or not at all.
 */
export function sqliteStore(file: string, options: StoreOptions = {}): Promise<SyncStore> {
  return openTarget(file, () => openStore(file, options))
}

/** Larger pages than SQLite's own 4 KB: a record's text and row take less time to write. A file keeps the size that it was made with. */
const settings = `
  pragma busy_timeout = 20000;
  pragma page_size = 16384;
  pragma cache_size = -32000;
  pragma journal_mode = wal;
  pragma synchronous = normal;`

/** SQLite gives its other files the rights of the first one. */
const filesOf = (file: string) => ['', '-wal', '-shm', '-journal'].map((ending) => `${file}${ending}`)

async function openStore(file: string, options: StoreOptions): Promise<SyncStore> {
  await makeFilesPrivate(filesOf(await realpath(file).catch(() => file)), options)
  await createFile(file)
  const database = await open(file)
  try {
    database.exec(settings)
    await prepareFile(database, options)
  } catch (error) {
    database.close()
    throw error
  }
  const list = database.prepare('select position from sync_position')
  const kept = database.prepare('select position from sync_position where dataset = ? and location_id = ?')
  const put = database.prepare(
    `insert into raw_record (dataset, location_id, id, attributes) values (?, ?, ?, ?)
     on conflict do update set attributes = excluded.attributes`,
  )
  const take = database.prepare('delete from raw_record where dataset = ? and location_id = ? and id = ?')
  const keep = database.prepare(
    `insert into sync_position (dataset, location_id, position, state, synced_at, checked_at) values (?, ?, ?, ?, ?, ?)
     on conflict do update set position = excluded.position, state = coalesce(excluded.state, state),
       synced_at = coalesce(excluded.synced_at, synced_at), checked_at = excluded.checked_at`,
  )
  const range = database.prepare(
    `select cast(id as text) as id, attributes from raw_record
      where dataset = ? and location_id = ? and id > ? order by raw_record.id limit 1000`,
  )
  const recordsAfter = (dataset: DatasetName, location: bigint, after: string) =>
    range
      .all(dataset, location, BigInt(after))
      .map(({ id, attributes }) => recordOf(dataset, String(id), String(attributes)))
  const forgotten = ['raw_record', 'sync_position'].map((table) =>
    database.prepare(`delete from ${table} where dataset = ? and location_id = ?`),
  )
  const leave = database.prepare(
    'delete from locations where id = ?1 and not exists (select 1 from sync_position where location_id = ?1)',
  )
  const typed = createRows(database)
  return {
    async positions() {
      // Written by `apply` below, so it is one.
      return list.all().map(({ position }) => JSON.parse(String(position)) as SyncPosition)
    },
    async apply({ locationId, dataset, records, strayIds, previous, position, freshness }) {
      const location = BigInt(locationId)
      // SQLite's work lets nothing else happen in this process. A request for the next page, begun before, leaves in these turns; after one it may not have.
      for (let turns = 0; turns < 3; turns += 1) await turn()
      inTransaction(database, () => {
        const before = kept.all(dataset, location)[0]?.position
        if (before !== (previous === null ? undefined : JSON.stringify(previous)))
          throw new StoreConflictError(position)
        for (const record of records) {
          put.run(dataset, location, BigInt(record.id), JSON.stringify(record.attributes))
          typed[dataset].write(location, record)
        }
        for (const id of strayIds) {
          take.run(dataset, location, BigInt(id))
          typed[dataset].remove(BigInt(id), location)
        }
        const { state = null, synced_at = null } = freshness ?? {}
        keep.run(dataset, location, JSON.stringify(position), state, synced_at, new Date().toISOString())
      })
    },
    async *read({ locationId, dataset }) {
      for (let after = '0'; ; ) {
        const records = recordsAfter(dataset, BigInt(locationId), after)
        const [last] = records.slice(-1)
        if (!last) return
        yield* records
        after = last.id
      }
    },
    async checkRows({ locationId, dataset }, { repair }) {
      const location = BigInt(locationId)
      const rows = typed[dataset]
      let wrong = 0
      inTransaction(database, () => {
        const ids = rows.strayIds(location)
        if (repair) for (const id of ids) rows.remove(id, null)
        wrong += ids.length
      })
      for (let after: string | undefined = '0'; after !== undefined; ) {
        inTransaction(database, () => {
          const records = recordsAfter(dataset, location, String(after))
          for (const record of records.filter((each) => !rows.match(location, each))) {
            if (repair) rows.write(location, record)
            wrong += 1
          }
          after = records.at(-1)?.id
        })
        // Other work of the process is done between.
        await turn()
      }
      return wrong
    },
    async saveDirectory(directory) {
      inTransaction(database, () => {
        for (const name of directoryTables) {
          const write = upsert(database, name, ['id'], tables[name].columns)
          for (const { id, attributes } of directory[name]) write([BigInt(id)], attributes)
        }
        database.exec('delete from grants')
        const grant = database.prepare('insert into grants (location_id, dataset) values (?, ?)')
        for (const { id, attributes } of directory.locations) {
          for (const dataset of attributes.datasets_granted) grant.run(BigInt(id), dataset)
        }
      })
    },
    async forget({ locationId, dataset }) {
      const location = BigInt(locationId)
      inTransaction(database, () => {
        typed[dataset].removeAll(location)
        for (const statement of forgotten) statement.run(dataset, location)
        leave.run(location)
      })
    },
    async finish() {
      database.exec(createIndexes())
      database.exec('pragma optimize')
    },
    async close() {
      database.close()
    },
  }
}

/**
 * SQLite would make it for all to read. One that is there is not opened: with the first descriptor that a process closes, it loses all its locks on
 * a file (sqlite.org/howtocorrupt.html).
 */
async function createFile(file: string): Promise<void> {
  if ((await stat(file).catch(() => null)) !== null) return
  try {
    const handle = await appendPrivate(file)
    await handle.close()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    throw new TargetError(file, 'Its folder does not exist. Create it, or correct the path.', { cause: error })
  }
}

async function open(file: string): Promise<Database> {
  try {
    const { DatabaseSync } = await import('node:sqlite')
    // The part that is used is the part that is typed.
    return new DatabaseSync(file) as unknown as Database
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_UNKNOWN_BUILTIN_MODULE')) throw cause
    const text = `The SQLite store needs node:sqlite: Node 22.13 or newer. This is ${process.version}; NDJSON files and Postgres work here.`
    throw new Error(text, { cause })
  }
}

function inTransaction(database: Database, work: () => void): void {
  database.exec('begin immediate')
  try {
    work()
    database.exec('commit')
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** After some errors, a full disk among them, SQLite has rolled back already; what it says of a second time must not hide the first error. */
function rollBack(database: Database): void {
  try {
    database.exec('rollback')
  } catch {
    // There was no transaction any more.
  }
}
