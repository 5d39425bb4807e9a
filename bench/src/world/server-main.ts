import { startEmbeddedPostgres } from '@bridgework/server/src/platform/database/embedded/embedded-postgres.ts'

// The server as production starts it, in the process that also keeps its PostgreSQL running: node server-main.ts <folder of the database>. When it
// ends, in order or killed, its PostgreSQL stays, and the next start uses it.
const [dataDir = ''] = process.argv.slice(2)
/** Exported, so that it is not collected with the lock of the folder that it holds. */
export const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} })
process.env.DATABASE_URL = postgres.serverUrl
process.env.BRIDGEWORK_MIGRATION_DATABASE_URL = postgres.ownerUrl
await import('@bridgework/server/src/main.ts')
