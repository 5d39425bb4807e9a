import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Log } from '../log/log-event.ts'
import { grantServerRole } from './grant-server-role.ts'
import { requireSupportedPostgres } from './pool.ts'
import type { Queryable } from './queryable.ts'
import { DatabaseStartError } from './start-error.ts'

type Migration = { number: number; name: string; sql: string; sha256: string }

export type MigrateOptions = {
  log: Log
  /** The role that the server connects as: gets its rights after every run. Null: the owner itself, which needs no grant. */
  serverRole: string | null
  directory?: string
}

/**
 * Brings the database at `ownerUrl` to this version's schema: forward only, each migration in its own transaction, one process at a time.
 * Refuses with a DatabaseStartError, having changed nothing, a database that a newer version has migrated and one whose applied migrations
 * are not the ones of this version.
 */
export async function migrate(ownerUrl: string, options: MigrateOptions): Promise<void> {
  const migrations = await readMigrations(options.directory ?? join(import.meta.dirname, 'migrations'))
  const client = new pg.Client({
    connectionString: ownerUrl,
    application_name: 'bridgework migrate',
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    await requireSupportedPostgres(client)
    await lock(client)
    await client.query(
      `create table if not exists migration (
         number integer primary key,
         name text not null,
         sha256 text not null,
         applied_at timestamptz not null default clock_timestamp()
       )`,
    )
    const applied = await listApplied(client)
    refuseForeign(applied, migrations)
    for (const migration of migrations.slice(applied.length)) await apply(client, migration, options.log)
    if (options.serverRole !== null) await grantServerRole(client, options.serverRole)
  } finally {
    // Ends the session, and with it the lock.
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

function refuseForeign(applied: readonly Applied[], migrations: readonly Migration[]): void {
  const newest = applied.at(-1)
  if (newest && newest.number > migrations.length) {
    throw new DatabaseStartError(
      `The database was migrated by a newer version of Bridgework: its last migration is ${newest.name}, and the last one of this version is ${migrations.at(-1)?.name ?? 'none'}. Start the newer version.`,
    )
  }
  for (const [index, row] of applied.entries()) {
    const known = migrations[index]
    if (row.number === known?.number && row.name === known.name && row.sha256 === known.sha256) continue
    throw new DatabaseStartError(
      `Migration ${row.name} of the database differs from ${known?.name ?? 'that'} of this version. An applied migration must never be edited: restore the file, or start the version that migrated the database.`,
    )
  }
}

async function apply(client: pg.Client, migration: Migration, log: Log): Promise<void> {
  const startedAt = performance.now()
  try {
    await client.query('begin')
    await client.query(migration.sql)
    await client.query('insert into migration (number, name, sha256) values ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.sha256,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${migration.name} failed; nothing of it was kept`, { cause: error })
  }
  const durationMs = Math.round(performance.now() - startedAt)
  log({ event: 'database.migrated', number: migration.number, name: migration.name, durationMs })
}

/** Any number that nothing else in the database uses: the first bytes of "bridgework". */
const lockKey = 0x62_72_69_64_67_65
