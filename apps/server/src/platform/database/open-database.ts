import type { Log } from '../log/log-event.ts'
import { connectEmbedded, embeddedServerRole, startEmbeddedPostgres } from './embedded/embedded-postgres.ts'
import { awaitMigrations, migrate } from './migrate.ts'
import { requireSessions } from './session.ts'
import { DatabaseStartError } from './start-error.ts'

/**
 * Which database: the embedded one in `dataDir`, or a server's. `migrationUrl` connects as the owner of the schema; null: as the server does.
 * `migrations`: whether this process migrates at its start, or another one does.
 */
export type DatabaseSettings = {
  dataDir: string
  database:
    | { kind: 'embedded' }
    | { kind: 'server'; url: string; migrationUrl: string | null; migrations: 'at_start' | 'apart' }
}

export type OpenDatabase = { serverUrl: string; ownerUrl: string; close: () => Promise<void> }

/**
 * The database that the settings name, at this version's schema: the embedded one, started, or a server's. With `beside`, the embedded
 * database of a running server is used as it is, and started only when none runs. With `migrates` it is migrated, whatever the settings say
 * of who does. Throws a DatabaseStartError.
 */
export async function openDatabase(
  settings: DatabaseSettings,
  log: Log,
  options: { beside?: boolean; migrates?: boolean } = {},
): Promise<OpenDatabase> {
  if (settings.database.kind === 'server') {
    const { url, migrationUrl, migrations } = settings.database
    for (const each of new Set([migrationUrl ?? url, url])) await requireSessions(each)
    const toBeginAnew = 'set DATABASE_URL to an empty database'
    if (migrations === 'apart' && !options.migrates) {
      await awaitMigrations(url, { log, toBeginAnew })
      return { serverUrl: url, ownerUrl: migrationUrl ?? url, close: async () => {} }
    }
    if (migrations === 'apart' && migrationUrl === null) {
      throw new DatabaseStartError('To migrate the database, set BRIDGEWORK_MIGRATION_DATABASE_URL.')
    }
    const serverRole = migrationUrl === null ? null : decodeURIComponent(new URL(url).username)
    await migrate(migrationUrl ?? url, { log, serverRole, toBeginAnew })
    return { serverUrl: url, ownerUrl: migrationUrl ?? url, close: async () => {} }
  }
  const { dataDir } = settings
  const embedded = options.beside
    ? await connectEmbedded(dataDir, { log })
    : await startEmbeddedPostgres({ dataDir, log })
  const close = 'close' in embedded ? embedded.close : embedded.stop
  try {
    await migrate(embedded.ownerUrl, {
      log,
      serverRole: embeddedServerRole,
      toBeginAnew: `move the folder ${dataDir} away and start again`,
    })
  } catch (error) {
    await close()
    throw error
  }
  return { serverUrl: embedded.serverUrl, ownerUrl: embedded.ownerUrl, close }
}
