import type { Pool } from 'pg'
import type { ReadPermit } from '../access/read-permit.ts'
import { type Document, readNumbered, readWhole } from './read-store.ts'
import { chooseReading, type Reading, sortedMaxUsual } from './reading.ts'
import { isWhole, type Selection } from './selection.ts'

/** One page: at most `items` records, whether more follow, and how many match in all. */
export type Page = { documents: Document[]; hasMore: boolean; total: number }

export type PageReader = {
  /** A page of cursor mode: records whose id is greater than `after` ('0' on the first). */
  readAfter: (permit: ReadPermit, selection: Selection, after: string, items: number) => Promise<Page>
  /** A page of page mode, numbered from 1. Such datasets are small and know no filter but the moment of change. */
  readPage: (permit: ReadPermit, selection: Selection, page: number, items: number) => Promise<Page>
}

const readingKeptMs = 10 * 60_000
const readingsKeptMax = 10_000

/**
 * Reads pages. How many records a selection matches is counted on its first page; later pages answer it from memory for 10 minutes, because
 * counting a large one for every page of it would be quadratic.
 */
export function createPageReader(pool: Pool, now: () => Date, sortedMax = sortedMaxUsual): PageReader {
  const readings = new Map<string, { reading: Reading; chosenAt: number }>()

  const readingOf = async (permit: ReadPermit, selection: Selection, isFirst: boolean): Promise<Reading> => {
    const { modifiedAfter, patientId, startsFrom, startsTo } = selection
    const key = [permit.locationId, permit.dataset, modifiedAfter, patientId, startsFrom, startsTo].join(' ')
    const kept = readings.get(key)
    if (!isFirst && kept && now().getTime() - kept.chosenAt < readingKeptMs) return kept.reading
    const reading = await chooseReading(pool, permit, selection, sortedMax)
    readings.delete(key)
    readings.set(key, { reading, chosenAt: now().getTime() })
    if (readings.size > readingsKeptMax) readings.delete(readings.keys().next().value ?? key)
    return reading
  }

  return {
    async readAfter(permit, selection, after, items) {
      if (isWhole(selection)) {
        return pageOf(await readWhole(pool, permit, after, items + 1), items, permit.state.total)
      }
      const reading = await readingOf(permit, selection, after === '0')
      return pageOf(await reading.read(pool, permit, after, items + 1), items, reading.total)
    },
    async readPage(permit, selection, page, items) {
      const isFirst = page === 1
      const total = isWhole(selection) ? permit.state.total : (await readingOf(permit, selection, isFirst)).total
      const offset = (page - 1) * items
      return pageOf(await readNumbered(pool, permit, selection.modifiedAfter ?? 0, offset, items + 1), items, total)
    },
  }
}

/** The page of a list that is known to have no record. */
export const emptyPage: Page = { documents: [], hasMore: false, total: 0 }

/** One record more than asked for was read: it says whether another page follows. */
function pageOf(documents: Document[], items: number, total: number): Page {
  return { documents: documents.slice(0, items), hasMore: documents.length > items, total }
}
