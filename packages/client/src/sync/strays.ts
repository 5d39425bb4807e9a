import type { SyncKey, SyncRecord, SyncStore } from './store.ts'

/** Finds what a copy has and a walk of everything does not name. */
export type StrayFinder = {
  /** Of what the copy has after the last answer and up to this id (null: to the end), at most `max` ids that are not among `named`; fewer: that was all. */
  upTo: (lastId: string | null, named: ReadonlySet<string>, max: number) => Promise<string[]>
  /** Reads no further. */
  end: () => Promise<void>
}

/** Reads the copy along with the walk, in ascending order of id. `after`: up to there an earlier process has compared. */
export function createStrayFinder(store: SyncStore, key: SyncKey, after: string): StrayFinder {
  const copy = store.read(key)[Symbol.asyncIterator]()
  let waiting: IteratorResult<SyncRecord> | null = null
  return {
    async upTo(lastId, named, max) {
      const strays: string[] = []
      while (strays.length < max) {
        waiting ??= await copy.next()
        if (waiting.done || (lastId !== null && BigInt(waiting.value.id) > BigInt(lastId))) break
        const { id } = waiting.value
        waiting = null
        if (BigInt(id) > BigInt(after) && !named.has(id)) strays.push(id)
      }
      return strays
    },
    end: async () => void (await copy.return?.()),
  }
}
