import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../log/log-event.ts'
import { grantServerRole } from './grant-server-role.ts'
import { requireSupportedPostgres } from './pool.ts'
import type { Queryable } from './queryable.ts'
import { openSession } from './session.ts'
import { DatabaseStartError } from './start-error.ts'

type Migration = { number: number; name: string; sql: string; sha256: string }

export type MigrateOptions = {
  log: Log
  /** The role that the server connects as: gets its rights after every run. Null: the owner itself, which needs no grant. */
  serverRole: string | null
  directory?: string
  /** How a person begins with an empty database: the end of a sentence of the refusal. */
  toBeginAnew?: string
}

/**
 * Brings the database at `ownerUrl` to this version's schema: forward only, each migration in its own transaction (but for those that say otherwise), one process at a time.
 * Refuses with a DatabaseStartError, having changed nothing, a database that a newer version has migrated, one that a version before the first release
 * made, and one whose applied migrations are not the ones of this version.
 */
export async function migrate(ownerUrl: string, options: MigrateOptions): Promise<void> {
  const migrations = await readMigrations(options.directory ?? join(import.meta.dirname, 'migrations'))
  const client = await openSession(ownerUrl, { application_name: 'bridgework migrate' })
  try {
    await requireSupportedPostgres(client)
    await lock(client)
    await client.query(
      `create schema if not exists directory;
       create table if not exists directory.migration (
         number integer primary key,
         name text not null,
         sha256 text not null,
         applied_at timestamptz not null default clock_timestamp()
       )`,
    )
    const applied = await listApplied(client)
    refuseForeign(applied, migrations, options.toBeginAnew)
    for (const migration of migrations.slice(applied.length)) await apply(client, migration, options.log)
    if (options.serverRole !== null) await grantServerRole(client, options.serverRole)
  } finally {
    // Ends the session, and with it the lock.
    await client.end()
  }
}

/**
 * Waits until another process has brought the database at `url` to this version's schema. Throws a DatabaseStartError when it has not within
 * `waitMs`, and for each database that `migrate` refuses.
 */
export async function awaitMigrations(
  url: string,
  options: { log: Log; directory?: string; toBeginAnew?: string; waitMs?: number; everyMs?: number },
): Promise<void> {
  const { log, waitMs = 60_000, everyMs = 1_000 } = options
  const migrations = await readMigrations(options.directory ?? join(import.meta.dirname, 'migrations'))
  const client = await openSession(url, { application_name: 'bridgework migrate' })
  try {
    await requireSupportedPostgres(client)
    const until = Date.now() + waitMs
    for (let isFirst = true; ; isFirst = false) {
      const applied = await listAppliedAtRest(client)
      if (applied) refuseForeign(applied, migrations, options.toBeginAnew)
      if (applied?.length === migrations.length) return
      if (Date.now() >= until) {
        throw new DatabaseStartError(
          `The database is not at the schema of this version, whose last migration is ${migrations.at(-1)?.name ?? 'none'}. Run "bridgework-operator database migrate" of this version, or remove BRIDGEWORK_MIGRATIONS=apart.`,
        )
      }
      if (isFirst) log({ event: 'database.waiting', migrations: migrations.length - (applied?.length ?? 0) })
      await sleep(everyMs)
    }
  } finally {
    await client.end()
  }
}

/** The newest migration that the database has, with the database's clock; null when it has none. */
export async function findNewestMigration(
  db: Queryable,
): Promise<{ number: number; name: string; clock: Date } | null> {
  const { rows } = await db.query<{ number: number; name: string; clock: Date }>(
    'select number, name, clock_timestamp() as clock from migration order by number desc limit 1',
  )
  return rows[0] ?? null
}

/** The migrations of a folder in order. Throws when a number is missing, doubled or badly written: that is a bug of the release. */
async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(/^(\d{4})_[a-z\d_]+\.sql$/.exec(file)?.[1])
      if (number !== index + 1)
        throw new Error(`${file}: expected migration ${String(index + 1).padStart(4, '0')}_<name>.sql`)
      // A checkout with Windows' line endings is the same migration.
      const sql = (await readFile(join(directory, file), 'utf8')).replaceAll('\r\n', '\n')
      return {
        number,
        name: file.slice(0, -'.sql'.length),
        sql,
        sha256: createHash('sha256').update(sql).digest('hex'),
      }
    }),
  )
}

/** One process migrates at a time. Five minutes: the other one may be rewriting a table. */
async function lock(client: pg.Client): Promise<void> {
  await client.query(`set lock_timeout = '5min'`)
  await client.query('select pg_advisory_lock($1)', [lockKey])
  await client.query('set lock_timeout = 0')
}

type Applied = { number: number; name: string; sha256: string }

async function listApplied(client: pg.Client): Promise<Applied[]> {
  const answer = await client.query<Applied>('select number, name, sha256 from migration order by number')
  return answer.rows
}

/** What is applied; null while a process migrates or grants rights, and before the first one has. */
async function listAppliedAtRest(client: pg.Client): Promise<Applied[] | null> {
  const { rows } = await client.query<{ is_free: boolean }>('select pg_try_advisory_lock_shared($1) as is_free', [
    lockKey,
  ])
  if (!rows[0]?.is_free) return null
  try {
    return await listApplied(client)
  } catch (error) {
    // No table yet, or no right to it.
    if (error instanceof pg.DatabaseError && (error.code === '42P01' || error.code === '42501')) return null
    throw error
  } finally {
    await client.query('select pg_advisory_unlock_shared($1)', [lockKey])
  }
}

function refuseForeign(
  applied: readonly Applied[],
  migrations: readonly Migration[],
  toBeginAnew = 'begin with an empty database',
): void {
  const unknown = applied.find(({ name }, index) => migrations[index] && name !== migrations[index].name)
  if (unknown) {
    throw new DatabaseStartError(
      `A version of Bridgework that was never released made this database: this version does not have its migration ${unknown.name}. Start the version that made it, or ${toBeginAnew}.`,
    )
  }
  const newest = applied.at(-1)
  if (newest && newest.number > migrations.length) {
    throw new DatabaseStartError(
      `The database was migrated by a newer version of Bridgework: its last migration is ${newest.name}, and the last one of this version is ${migrations.at(-1)?.name ?? 'none'}. Start the newer version.`,
    )
  }
  for (const [index, row] of applied.entries()) {
    const known = migrations[index]
    if (row.sha256 === known?.sha256) continue
    throw new DatabaseStartError(
      `Migration ${row.name} of the database differs from ${known?.name ?? 'that'} of this version. An applied migration must never be edited: restore the file, or start the version that migrated the database.`,
    )
  }
}

/**
 * A request for a table waits behind a migration that waits for it. So it waits no longer than this, lets the others pass, and tries again,
 * until a longer transaction has ended.
 */
const [lockTimeoutMs, lockPauseMs, lockTriesMax] = [500, 1_000, 200]

async function apply(client: pg.Client, migration: Migration, log: Log): Promise<void> {
  const startedAt = performance.now()
  for (let tries = 1; ; tries += 1) {
    try {
      await (migration.sql.startsWith(apartMark) ? applyApart(client, migration) : applyWhole(client, migration))
      break
    } catch (error) {
      await client.query('rollback').catch(() => {})
      const isLocked = error instanceof pg.DatabaseError && error.code === '55P03'
      if (isLocked && tries < lockTriesMax) {
        await sleep(lockPauseMs)
        continue
      }
      const kept = migration.sql.startsWith(apartMark) ? 'start again to complete it' : 'nothing of it was kept'
      throw new Error(`Migration ${migration.name} failed; ${kept}`, { cause: error })
    }
  }
  const durationMs = Math.round(performance.now() - startedAt)
  log({ event: 'database.migrated', number: migration.number, name: migration.name, durationMs })
}

async function applyWhole(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin')
  await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
  await client.query(migration.sql)
  await note(client, migration)
  await client.query('commit')
}

/**
 * The beginning of a migration whose statements PostgreSQL refuses in a transaction, as "create index concurrently". Each is sent by itself; one
 * that failed half-way is sent again, so each must be safe to repeat: "drop index concurrently if exists" before the index is created.
 */
const apartMark = '-- Outside a transaction'

async function applyApart(client: pg.Client, migration: Migration): Promise<void> {
  // These statements wait for earlier transactions without holding up anyone.
  for (const statement of migration.sql.split(/;\s*$/m)) await client.query(statement)
  await note(client, migration)
}

async function note(client: pg.Client, { number, name, sha256 }: Migration): Promise<void> {
  await client.query('insert into migration (number, name, sha256) values ($1, $2, $3)', [number, name, sha256])
}

/** Any number that nothing else in the database uses: the first bytes of "bridgework". */
const lockKey = 0x62_72_69_64_67_65
