import type { Pool } from 'pg'
import { beginEpoch } from '../../../modules/agents/epoch.ts'
import { raiseStamps } from '../../../modules/datasets/dataset-state.ts'
import { raiseRecordIds } from '../../../modules/records/write/write-store.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'

/**
 * After the database was restored from a backup. What was stored since the backup is lost here, though vendors have it: so every agent compares
 * everything at its next contact, each vendor's next delta is the whole dataset and says why, and no id that was given since comes again for
 * another record. `alongside` happens in the same transaction. Returns the new epoch.
 */
export async function markRestored(
  pool: Pool,
  alongside?: (epoch: string, client: Queryable) => Promise<void>,
): Promise<string> {
  return withTransaction(pool, async (client) => {
    const stamp = await raiseStamps(client)
    await raiseRecordIds(client, stamp)
    const epoch = await beginEpoch(client, stamp)
    await alongside?.(epoch, client)
    return epoch
  })
}
