import type { Pool } from 'pg'
import { beginEpoch } from '../../modules/agents/epoch.ts'
import { forgetGrantStamps } from '../../modules/consent/dataset-grant.ts'
import { skipRecordIds } from '../../modules/records/write-store.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'

type Anew = { epoch: string; grants: number }

/**
 * After the database was restored from a backup. What was stored since the backup is lost here, though vendors have it: so every agent compares
 * everything at its next contact, each vendor's next delta returns every record, and no id that was given since comes again for another
 * record. `alongside` happens in the same transaction. Returns how many grants that concerns.
 */
export async function markRestored(
  pool: Pool,
  alongside?: (anew: Anew, client: Queryable) => Promise<void>,
): Promise<Anew> {
  return withTransaction(pool, async (client) => {
    const anew = await beginAnew(client)
    await alongside?.(anew, client)
    return anew
  })
}

/** The same within the transaction that restores. */
export async function beginAnew(client: Queryable): Promise<Anew> {
  const epoch = await beginEpoch(client)
  await skipRecordIds(client)
  return { epoch, grants: await forgetGrantStamps(client) }
}
