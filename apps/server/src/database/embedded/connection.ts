import pg from 'pg'
import { adminRole, type Credentials, databaseName, ownerRole, serverRole } from './cluster.ts'
import { socketPort } from './postmaster.ts'

/** Addresses of the embedded database, with passwords. `ownerUrl` owns the schema, `serverUrl` is the server's restricted role. */
export type EmbeddedUrls = {
  adminUrl: string
  ownerUrl: string
  serverUrl: string
}

export function embeddedUrls(socketDir: string, credentials: Credentials): EmbeddedUrls {
  // `host` as a parameter, because the folder of a socket cannot stand where a host name does.
  const url = (role: keyof Credentials) =>
    `postgres://${role}:${credentials[role]}@localhost:${socketPort}/${databaseName}?host=${encodeURIComponent(socketDir)}`
  return { adminUrl: url(adminRole), ownerUrl: url(ownerRole), serverUrl: url(serverRole) }
}

/** Whether a server at this address takes connections and answers. */
export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
