import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import pg from 'pg'
import { ownerRole, serverRole } from '../embedded/cluster.ts'
import { createPool } from '../pool.ts'
import { schemas, searchPath } from '../schemas.ts'

export type TestDatabase = {
  /** As the owner of the schema. */
  url: string
  /** As the role that the server connects as. */
  serverUrl: string
  pool: pg.Pool
  ownerPool: pg.Pool
}

/**
 * A database of the test's own, cloned from the migrated template of this run (`npm test` starts it). It goes when all tests of the file
 * are over, and not with the test: a test's later `t.after`, such as closing a server, runs after earlier ones and still needs it. Its name
 * begins as the process that started the tests wants, so that it finds what tests that it killed leave behind.
 */
export async function createTestDatabase(t: { name?: string }): Promise<TestDatabase> {
  return makeFrom(t, nameIn(templateUrl()))
}

/** A database of somebody else, such as a vendor's or an office's: without the service's tables and settings. */
export async function createEmptyDatabase(t: { name?: string }): Promise<TestDatabase> {
  const database = await makeFrom(t, 'template0')
  await asAdmin(templateUrl(), `alter database ${nameIn(new URL(database.url))} reset search_path`)
  return database
}

/** A database with all that this one has at one moment, as after a restore of its backup. Ends every session of this one. */
export async function copyTestDatabase(
  t: { name?: string },
  { serverUrl }: Pick<TestDatabase, 'serverUrl'>,
): Promise<TestDatabase> {
  const [template, source] = [templateUrl(), nameIn(new URL(serverUrl))]
  await asAdmin(template, `alter database ${source} allow_connections false`)
  try {
    await asAdmin(template, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${source}'`)
    return await makeFrom(t, source)
  } finally {
    await asAdmin(template, `alter database ${source} allow_connections true`)
  }
}

async function makeFrom(t: { name?: string }, source: string): Promise<TestDatabase> {
  const template = templateUrl()
  const name = `${process.env.BRIDGEWORK_TEST_DATABASE_PREFIX ?? 'test_'}${randomBytes(8).toString('hex')}`
  await asAdmin(template, `create database ${name} template ${source} owner ${ownerRole} strategy ${strategy}`)
  await asAdmin(template, `alter database ${name} set search_path = ${searchPath}`)
  const url = urlOf(template, ownerRole, name)
  const serverUrl = urlOf(template, serverRole, name)
  const pools = [serverUrl, url].map((each) =>
    createPool(each, {
      max: 10,
      log: () => {},
      applicationName: (t.name ?? 'test').slice(0, 60),
      statementTimeoutMs: 30_000,
      idleTimeoutMs: 2_000,
    }),
  )
  const [pool, ownerPool] = pools as [pg.Pool, pg.Pool]
  made.push({ name, pools })
  return { url, serverUrl, pool, ownerPool }
}

/** Leaves a test's database as one that was never migrated. */
export async function dropSchemas({ ownerPool }: Pick<TestDatabase, 'ownerPool'>): Promise<void> {
  await ownerPool.query(`drop schema ${schemas.join(', ')}, monthly cascade`)
}

const made: { name: string; pools: pg.Pool[] }[] = []

after(async () => {
  for (const { name, pools } of made) {
    await Promise.all(pools.map((pool) => pool.end()))
    // One that was made on a server of the test's own went with it.
    await asAdmin(templateUrl(), `drop database if exists ${name} with (force)`)
  }
})

/** Copies files without going through the log: faster, and the cluster of the tests need not survive a crash. */
const strategy = 'file_copy'

function nameIn(url: URL): string {
  return url.pathname.slice(1)
}

function templateUrl(): URL {
  const url = process.env.BRIDGEWORK_TEST_DATABASE_URL
  if (!url) throw new Error('There is no database for tests: run them as "npm test -- <paths>", which starts one.')
  return new URL(url)
}

/** The address of a test's database for a superuser, who may do what the service's roles may not. */
export function superuserUrl(database: string): string {
  const template = templateUrl()
  return urlOf(template, template.username, database)
}

function urlOf(template: URL, role: string, database: string): string {
  const url = new URL(template)
  url.username = role
  url.pathname = `/${database}`
  return url.href
}

async function asAdmin(template: URL, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(template, template.username, 'postgres') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
