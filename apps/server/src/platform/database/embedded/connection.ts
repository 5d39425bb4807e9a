import pg from 'pg'
import { codeOf } from '../../errors/error-code.ts'
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

/** How a server at this address does: `starting` says so itself, also while it recovers or stops; `silent` says nothing. */
export async function probe(url: string): Promise<'ready' | 'starting' | 'silent'> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return 'ready'
  } catch (error) {
    return codeOf(error) === cannotConnectNow ? 'starting' : 'silent'
  } finally {
    // Not waited for: to a server that hangs, even the farewell would hang.
    client.end().catch(() => {})
  }
}

const cannotConnectNow = '57P03'
