import type { Pool } from 'pg'
import { ensureAttributionScripts } from '../attribution/store.ts'
import { ensureDatasetStates } from '../datasets/dataset-state.ts'
import { listLocationIds } from '../directory/location.ts'
import { addRenderingWork } from '../records/write/reference-store.ts'

/** Gives existing locations what a newer version expects of each: a state of every dataset, an attribution script, and work where documents
 * have an earlier rendering. Repeatable. */
export async function completeLocations(pool: Pool): Promise<void> {
  const locationIds = await listLocationIds(pool)
  await ensureDatasetStates(pool, locationIds)
  await ensureAttributionScripts(pool, locationIds)
  await addRenderingWork(pool)
}
