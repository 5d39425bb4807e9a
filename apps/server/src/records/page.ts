import type { Pool } from 'pg'
import type { ReadPermit } from '../access/read-permit.ts'
import type { DeltaScope } from './delta.ts'
import { countModified, type Document, readLargeDelta, readNumbered, readSmallDelta, readWhole } from './read-store.ts'
import type { Stamp } from './stamp.ts'

/** One page: at most `items` records, whether more follow, and how many match in all. */
export type Page = { documents: Document[]; hasMore: boolean; total: number }

export type PageReader = {
  /** A page of cursor mode: records whose id is greater than `after` ('0' on the first). */
  readAfter: (permit: ReadPermit, scope: DeltaScope, after: string, items: number) => Promise<Page>
  /** A page of page mode, numbered from 1. */
  readPage: (permit: ReadPermit, scope: DeltaScope, page: number, items: number) => Promise<Page>
}

const totalKeptMs = 10 * 60_000
const totalsKeptMax = 10_000

/**
 * Reads pages. A small delta is counted with each page of it. How many records a large one has is counted on its first page; later pages
 * answer it from memory for 10 minutes, because counting it for every page would be quadratic too. `smallDeltaMax`: for tests.
 */
export function createPageReader(pool: Pool, now: () => Date, { smallDeltaMax = 20_000 } = {}): PageReader {
  const totals = new Map<string, { total: number; countedAt: number }>()

  const totalOf = async (permit: ReadPermit, modifiedAfter: Stamp, isFirst: boolean): Promise<number> => {
    const key = keyOf(permit, modifiedAfter)
    const kept = totals.get(key)
    if (!isFirst && kept && now().getTime() - kept.countedAt < totalKeptMs) return kept.total
    const total = await countModified(pool, permit, modifiedAfter)
    totals.delete(key)
    totals.set(key, { total, countedAt: now().getTime() })
    if (totals.size > totalsKeptMax) totals.delete(totals.keys().next().value ?? key)
    return total
  }

  const isKnownLarge = (permit: ReadPermit, modifiedAfter: Stamp) =>
    (totals.get(keyOf(permit, modifiedAfter))?.total ?? 0) > smallDeltaMax

  return {
    async readAfter(permit, { modifiedAfter, isEmpty }, after, items) {
      if (isEmpty) return emptyPage
      if (modifiedAfter === null)
        return pageOf(await readWhole(pool, permit, after, items + 1), items, permit.state.total)
      if (after === '0' || !isKnownLarge(permit, modifiedAfter)) {
        const small = await readSmallDelta(pool, permit, modifiedAfter, after, items + 1, smallDeltaMax)
        if (small) return pageOf(small.documents, items, small.total)
      }
      const total = await totalOf(permit, modifiedAfter, after === '0')
      return pageOf(await readLargeDelta(pool, permit, modifiedAfter, after, items + 1), items, total)
    },
    async readPage(permit, { modifiedAfter, isEmpty }, page, items) {
      if (isEmpty) return emptyPage
      const total = modifiedAfter === null ? permit.state.total : await totalOf(permit, modifiedAfter, page === 1)
      return pageOf(await readNumbered(pool, permit, modifiedAfter ?? 0, (page - 1) * items, items + 1), items, total)
    },
  }
}

function keyOf(permit: ReadPermit, modifiedAfter: Stamp): string {
  return `${permit.locationId} ${permit.dataset} ${modifiedAfter}`
}

const emptyPage: Page = { documents: [], hasMore: false, total: 0 }

/** One record more than asked for was read: it says whether another page follows. */
function pageOf(documents: Document[], items: number, total: number): Page {
  return { documents: documents.slice(0, items), hasMore: documents.length > items, total }
}
