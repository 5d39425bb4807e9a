import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ownerRole, serverRole } from '../embedded/cluster.ts'
import { superuserUrl, type TestDatabase } from './test-database.ts'

/** Each setting of a session on which the meaning of texts depends, with a value that changes it. */
export const badSettings: readonly (readonly [name: string, value: string])[] = [
  ['bytea_output', 'escape'],
  ['DateStyle', 'German, DMY'],
  ['DateStyle', 'SQL, DMY'],
  ['IntervalStyle', 'sql_standard'],
  ['TimeZone', 'Asia/Kathmandu'],
  ['extra_float_digits', '-15'],
  ['standard_conforming_strings', 'off'],
  ['client_encoding', 'LATIN1'],
  ['quote_all_identifiers', 'on'],
  ['array_nulls', 'off'],
  ['default_transaction_isolation', 'serializable'],
  ['search_path', 'pg_catalog'],
  ['synchronous_commit', 'off'],
]

/**
 * Sets these, and no others, for the database and for both of our roles in it, and ends its sessions until none of `pools` has any: the
 * settings count from the next connection on, and one that begins meanwhile, as a timer's may, can have missed them.
 */
export async function spoilSettings(
  { serverUrl }: Pick<TestDatabase, 'serverUrl'>,
  settings: readonly (readonly [name: string, value: string])[],
  pools: readonly pg.Pool[] = [],
): Promise<void> {
  const database = new URL(serverUrl).pathname.slice(1)
  const roles = [ownerRole, serverRole].map((role) => `role ${role} in database ${database}`)
  const superuser = new pg.Client({ connectionString: superuserUrl(database) })
  await superuser.connect()
  try {
    for (const target of [`database ${database}`, ...roles]) {
      await superuser.query(`alter ${target} reset all`)
      for (const [name, value] of settings)
        await superuser.query(`alter ${target} set ${name} to ${name === 'search_path' ? value : `'${value}'`}`)
    }
    const endMs = Date.now() + 10_000
    do {
      assert.ok(Date.now() < endMs, 'all sessions ended within 10 s')
      await superuser.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      await sleep(10)
    } while (pools.some((pool) => pool.totalCount > 0))
  } finally {
    await superuser.end()
  }
}

/** What the guide to a pooler has a superuser run, for the server's role in this database. */
export async function setForPooler({ serverUrl }: Pick<TestDatabase, 'serverUrl'>): Promise<void> {
  const database = new URL(serverUrl).pathname.slice(1)
  const [, statements = ''] = /^```sql\n([\s\S]*?)^```$/m.exec(readFileSync(poolerGuide, 'utf8')) ?? []
  const superuser = new pg.Client({ connectionString: superuserUrl(database) })
  await superuser.connect()
  await superuser.query(statements.replaceAll('database bridgework ', `database ${database} `))
  await superuser.end()
}

export const poolerGuide = join(import.meta.dirname, '../../../../../../docs/operate/pooler.md')
