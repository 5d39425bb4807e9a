import type { Pool } from 'pg'
import type { Config } from './config.ts'
import { hasOrganizationOf } from './modules/directory/organization.ts'
import type { Log } from './platform/log/log-event.ts'
import { demoReference } from './sandbox/demo.ts'

/** The server refuses to start, because it would not be safe. The message is for the person who starts it. */
export class UnsafeStart extends Error {}

/**
 * Refuses, in production, a database with demo data and a role that could rewrite disclosures; warns of such a role in the sandbox. Throws
 * UnsafeStart.
 */
export async function requireSafeStart(pool: Pool, config: Config, log: Log): Promise<void> {
  const { rows } = await pool.query<{ may_rewrite: boolean }>(
    `select has_table_privilege('disclosure', 'update, delete, truncate') as may_rewrite`,
  )
  const mayRewrite = rows[0]?.may_rewrite ?? true
  const rewriteText =
    'The database role of DATABASE_URL can change and delete disclosures. Give DATABASE_URL a role that does not own the schema, and set BRIDGEWORK_MIGRATION_DATABASE_URL to the role that does.'
  if (config.environment === 'sandbox') {
    if (mayRewrite) log({ event: 'server.warning', text: rewriteText })
    return
  }
  if (mayRewrite) throw new UnsafeStart(rewriteText)
  if (await hasOrganizationOf(pool, demoReference))
    throw new UnsafeStart('This database holds the demo practice of the sandbox. Use another database for production.')
}
