// One throw-away Postgres with a migrated template, and what tests that use it are started with.
import { rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import {
  embeddedServerRole,
  startEmbeddedPostgres,
} from '../apps/server/src/platform/database/embedded/embedded-postgres.ts'
import { migrate } from '../apps/server/src/platform/database/migrate.ts'
import { makeTestFolder, removeWhenKilled } from './test-folder.ts'

const root = join(import.meta.dirname, '..')
/** Nothing here need survive a crash. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  max_wal_size: '2GB',
  max_connections: '300',
  shared_buffers: '256MB',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
}

/**
 * Calls `work` with a migrated template in a Postgres that is there as long as `work` lasts: the folder of all files, and the environment in
 * which tests find the template.
 */
export async function withTestDatabase<T>(
  work: (world: { folder: string; url: string; env: NodeJS.ProcessEnv }) => Promise<T>,
): Promise<T> {
  const folder = makeTestFolder()
  removeWhenKilled(folder)
  try {
    const database = await startEmbeddedPostgres({
      dataDir: join(folder, 'data'),
      copyRoot: join(folder, 'elsewhere'),
      log: () => {},
      throwAway: { settings },
    })
    try {
      const url = await makeTemplate(database)
      const env = {
        ...process.env,
        BRIDGEWORK_TEST_DATABASE_URL: url,
        BRIDGEWORK_TEST_MARIADB: join(folder, 'mariadb'),
        TMPDIR: join(folder, 'tmp'),
        NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
        PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
      }
      return await work({ folder, url, env })
    } finally {
      await database.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Gives the address of the template as a superuser. All roles get its password, so that this one address is all that tests need. */
async function makeTemplate(database: { adminUrl: string; ownerUrl: string }): Promise<string> {
  await migrate(database.ownerUrl, { log: () => {}, serverRole: embeddedServerRole })
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  const password = client.escapeLiteral(new URL(database.adminUrl).password)
  await client.query(
    `alter role bridgework_owner password ${password}; alter role bridgework_server password ${password}`,
  )
  await client.end()
  return database.adminUrl
}
