import type { Pool } from 'pg'
import { type ListKey, listVisibleRange } from './complete-list-store.ts'

/**
 * Compares a complete list of source ids, while it arrives, with the dataset's visible records. However long the list is, this holds no more than
 * those records' ids.
 */
export async function createListedIds(pool: Pool, key: ListKey) {
  const isListed = new Map<string, boolean>()
  for (let after = ''; ; ) {
    const page = await listVisibleRange(pool, key, { after, to: null }, pageIds)
    for (const sourceId of page) isListed.set(sourceId, false)
    if (page.length < pageIds) break
    after = page.at(-1) ?? after
  }
  return {
    add: (sourceIds: readonly string[]): void => {
      for (const sourceId of sourceIds) if (isListed.has(sourceId)) isListed.set(sourceId, true)
    },
    /** Those of these source ids that were visible at the beginning and that the list does not name. */
    unlisted: (sourceIds: readonly string[]): string[] => sourceIds.filter((each) => isListed.get(each) === false),
  }
}

const pageIds = 10_000
