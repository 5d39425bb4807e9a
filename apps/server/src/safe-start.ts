import type { Pool } from 'pg'
import type { Config } from './config.ts'
import { hasOrganizationOf } from './modules/directory/organization.ts'
import type { Log } from './platform/log/log-event.ts'
import { demoReference, volumeReference } from './sandbox/demo.ts'

/** Production would not be safe like this. The message is one line for the person who starts the server. */
export class UnsafeStart extends Error {}

/**
 * Refuses, in production, a database with demo data and a role that could rewrite disclosures; says the latter in the sandbox. Throws
 * UnsafeStart.
 */
export async function requireSafeStart(pool: Pool, config: Config, log: Log): Promise<void> {
  const { rows } = await pool.query<{ may_rewrite: boolean }>(
    `select has_table_privilege('disclosure', 'update, delete, truncate') as may_rewrite`,
  )
  const mayRewrite = rows[0]?.may_rewrite ?? true
  const rewriteText =
    'The role of DATABASE_URL may change and delete disclosures: connect as a role of its own, and set BRIDGEWORK_MIGRATION_DATABASE_URL to the owner of the schema.'
  if (config.environment === 'sandbox') {
    if (mayRewrite) log({ event: 'server.warning', text: rewriteText })
    return
  }
  if (mayRewrite) throw new UnsafeStart(rewriteText)
  if (await hasOrganizationOf(pool, [demoReference, volumeReference]))
    throw new UnsafeStart('This database holds the sandbox’s demo practice: production needs a database of its own.')
}
