import { BoundedMap } from '../../platform/memory/bounded-map.ts'

/**
 * What is kept of lists that callers walk through page after page: where pages ended, so that the next one begins there and is found by its key, and
 * how long large lists are. All of it may be lost. Ids rise.
 */
export type ListMemory<Id> = {
  /** `after`: the page begins after it, else by its number; `total`: else to be counted. Both null when they are not known. */
  recall: (list: string, page: { page: number; items: number }) => { after: Id | null; total: number | null }
  /** The page was answered; `lastId`: where it ended, null when no page follows; `counted`: the list's length, null when it was recalled. */
  note: (
    list: string,
    page: { page: number; items: number },
    answered: { lastId: Id | null; counted: number | null },
  ) => void
}

export function createListMemory<Id>(now = () => performance.now()): ListMemory<Id> {
  const ends = new BoundedMap<string, { lastId: Id; atMs: number }>(keptMax)
  const totals = new BoundedMap<string, { total: number; atMs: number }>(keptMax)
  return {
    recall(list, { page, items }) {
      const end = ends.get(`${list} ${items} ${page - 1}`)
      const counted = totals.get(list)
      return {
        after: end && now() - end.atMs < endKeptMs ? end.lastId : null,
        total: counted && now() - counted.atMs < counted.total * totalKeptMs ? counted.total : null,
      }
    },
    note(list, { page, items }, { lastId, counted }) {
      const atMs = now()
      if (lastId !== null) ends.set(`${list} ${items} ${page}`, { lastId, atMs })
      if (counted !== null && counted > countedMax) totals.set(list, { total: counted, atMs })
    },
  }
}

/** Lists, and pages of lists: a few hundred bytes for each. */
const keptMax = 5_000
/** How long the page after one that was answered begins where that one ended. */
const endKeptMs = 60_000
/** Shorter lists are counted for each page. */
const countedMax = 1_000
/** How long the length of a list is kept, for each of its members: 100 s for 200,000. */
const totalKeptMs = 0.5
