import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { LocationId } from '../../platform/identity/identity.ts'
import { listVisibleSourceIds } from './write-store.ts'

/**
 * Compares a complete list of source ids, while it arrives, with the dataset's visible records. However long the list is, this holds no more than
 * those records' ids.
 */
export async function createListedIds(
  pool: Pool,
  { locationId, dataset }: { locationId: LocationId; dataset: DatasetName },
) {
  const isListed = new Map<string, boolean>()
  for (let after = ''; ; ) {
    const page = await listVisibleSourceIds(pool, locationId, dataset, after, pageIds)
    for (const sourceId of page) isListed.set(sourceId, false)
    if (page.length < pageIds) break
    after = page.at(-1) ?? after
  }
  return {
    add: (sourceIds: readonly string[]): void => {
      for (const sourceId of sourceIds) if (isListed.has(sourceId)) isListed.set(sourceId, true)
    },
    /** Those of the list that are visible. */
    listed: (): string[] => [...isListed].filter(([, isThere]) => isThere).map(([sourceId]) => sourceId),
  }
}

const pageIds = 10_000
