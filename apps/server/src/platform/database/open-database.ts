import type { Log } from '../log/log-event.ts'
import { connectEmbedded, embeddedServerRole, startEmbeddedPostgres } from './embedded/embedded-postgres.ts'
import { hostsOf } from './hosts.ts'
import { awaitMigrations, migrate } from './migrate.ts'
import { requirePooler, requireSessions } from './session.ts'
import { DatabaseStartError } from './start-error.ts'
import { databaseErrorCode, isDatabaseUnavailable } from './unavailable.ts'

/**
 * Which database: the embedded one in `dataDir`, or a server's. `directUrl`: the same without a pooler, where `url` leads to one that gives each
 * transaction another session. `migrationUrl` connects as the owner of the schema; null: as the server does. `migrations`: whether this process migrates
 * at its start, or another one does.
 */
export type DatabaseSettings = {
  dataDir: string
  database:
    | { kind: 'embedded' }
    | {
        kind: 'server'
        url: string
        directUrl: string | null
        migrationUrl: string | null
        migrations: 'at_start' | 'apart'
      }
}

/** `directUrl` gives sessions of one's own; `sharesSessions`: `serverUrl` does not. */
export type OpenDatabase = {
  serverUrl: string
  directUrl: string
  sharesSessions: boolean
  ownerUrl: string
  close: () => Promise<void>
}

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
  if (settings.database.kind === 'server') return await openServer(settings.database, log, options.migrates ?? false)
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
  const { serverUrl, ownerUrl } = embedded
  return { serverUrl, directUrl: serverUrl, sharesSessions: false, ownerUrl, close }
}

async function openServer(
  database: Extract<DatabaseSettings['database'], { kind: 'server' }>,
  log: Log,
  migrates: boolean,
): Promise<OpenDatabase> {
  const { url, migrations, migrationUrl } = database
  const directUrl = database.directUrl ?? url
  const ownerUrl = migrationUrl ?? directUrl
  const toBeginAnew = 'set DATABASE_URL to an empty database'
  try {
    for (const each of new Set([ownerUrl, directUrl])) await requireSessions(each)
    if (directUrl !== url) await requirePooler(url, directUrl)
    if (migrations === 'apart' && !migrates) await awaitMigrations(directUrl, { log, toBeginAnew })
    else if (migrations === 'apart' && migrationUrl === null)
      throw new DatabaseStartError('To migrate the database, set BRIDGEWORK_MIGRATION_DATABASE_URL.')
    else {
      const serverRole = migrationUrl === null ? null : decodeURIComponent(new URL(hostsOf(url)[0] ?? url).username)
      await migrate(ownerUrl, { log, serverRole, toBeginAnew })
    }
  } catch (error) {
    throw startErrorOf(error)
  }
  return { serverUrl: url, directUrl, sharesSessions: directUrl !== url, ownerUrl, close: async () => {} }
}

/** A database that is away, and one that refuses the role or the name, in one line: its stack says nothing more. */
function startErrorOf(error: unknown): unknown {
  const code = databaseErrorCode(error)
  if (error instanceof DatabaseStartError || !(isDatabaseUnavailable(error) || /^(28|3D)/.test(code))) return error
  const said = error instanceof AggregateError ? error.errors : [error]
  const why = said
    .map((each) => `${each instanceof Error ? each.message : each} (${databaseErrorCode(each)})`)
    .join('; ')
  return new DatabaseStartError(
    `The database cannot be used: ${why}. Check that it runs, and the address, role and password in DATABASE_URL and the other settings of the database.`,
    { cause: error },
  )
}
