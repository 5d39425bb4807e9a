import type { Pool } from 'pg'
import { beginEpoch } from '../../modules/agents/epoch.ts'
import { forgetGrantStamps } from '../../modules/consent/dataset-grant.ts'
import { skipRecordIds } from '../../modules/records/write-store.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'

/**
 * After the database was restored from a backup. What was stored since the backup is lost here, though vendors have it: so every agent compares
 * everything at its next contact, each vendor's next delta returns every record, and no id that was given since comes again for another
 * record. Returns how many grants that concerns.
 */
export async function markRestored(pool: Pool): Promise<{ epoch: string; grants: number }> {
  return withTransaction(pool, beginAnew)
}

/** The same within the transaction that restores. */
export async function beginAnew(client: Queryable): Promise<{ epoch: string; grants: number }> {
  const epoch = await beginEpoch(client)
  await skipRecordIds(client)
  return { epoch, grants: await forgetGrantStamps(client) }
}
