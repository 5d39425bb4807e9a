import type { Pool } from 'pg'
import type { LocationId } from '../../platform/identity/identity.ts'
import { ensureAttributionScripts } from '../attribution/store.ts'
import { ensureDatasetStates } from '../datasets/dataset-state.ts'
import { listLocationIdsAfter } from '../directory/location.ts'
import { addRenderingWork } from '../records/write/reference-store.ts'

/**
 * Gives existing locations what a newer version expects of each: a state of every dataset, an attribution script, and work where documents
 * have an earlier rendering. Repeatable. A thousand locations at a time: each statement has a time limit.
 */
export async function completeLocations(pool: Pool): Promise<void> {
  for (let after: LocationId | undefined = '0' as LocationId; after !== undefined; ) {
    const locationIds: LocationId[] = await listLocationIdsAfter(pool, after, atOnce)
    await ensureDatasetStates(pool, locationIds)
    await ensureAttributionScripts(pool, locationIds)
    await addRenderingWork(pool, locationIds)
    after = locationIds.length < atOnce ? undefined : locationIds.at(-1)
  }
}

const atOnce = 1_000
