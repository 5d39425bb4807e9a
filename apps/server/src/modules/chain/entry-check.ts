import type { Queryable } from '../../platform/database/queryable.ts'
import { compareMarks } from './compare.ts'
import { type HashedEntry, type ReadEntries, rowsAtOnce, runHash } from './run.ts'

export type Find = (seal: number | null, text: string) => void

/** Writers of one moment become visible in another order by seconds, and clocks of databases are set by less than this. */
const olderMsMax = 60 * 60_000

type EntryCheck = {
  name: 'disclosure' | 'act'
  read: ReadEntries
  /** When the first seal of all was made. */
  beginsAt: string
  /** No entry can be from a later moment; null: that is not looked at. */
  possibleUntil: string | null
  find: Find
}

/** Compares the entries of one kind with what was sealed, seal after seal. */
export function createEntryCheck(db: Queryable, { name, read, beginsAt, possibleUntil, find }: EntryCheck) {
  const counts = { entries: 0, beforeChain: 0 }
  let latestAt = ''

  const checkTimes = (seal: number | null, entries: readonly HashedEntry[]) => {
    for (const { id, at } of entries) {
      if (possibleUntil !== null && at > possibleUntil) {
        const why = "its time was made up, or the database's clock was ahead."
        find(seal, `The ${name} ${id} has the time ${at}, which is still to come: ${why}`)
      } else if (at > latestAt) latestAt = at
      else if (Date.parse(latestAt) - Date.parse(at) > olderMsMax) {
        const why = "it was added later, or the database's clock was set back."
        find(seal, `The ${name} ${id} has the time ${at}, more than an hour before an earlier entry: ${why}`)
      }
    }
  }

  return {
    counts,
    /** Checks the entries after this id that a seal holds, and returns them; null when they are not those that were sealed. */
    async check(
      seal: number,
      afterId: string,
      sealed: { lastId: string; count: number; hash: Buffer; marks: () => Promise<Buffer> },
    ): Promise<HashedEntry[] | null> {
      const entries: HashedEntry[] = []
      for await (const page of pages(db, read, afterId, sealed.lastId)) {
        entries.push(...page)
        // A run that is longer than its seal says is read only as far as it must be to say so.
        if (entries.length > sealed.count + rowsAtOnce) break
      }
      counts.entries += entries.length
      counts.beforeChain += entries.filter(({ at }) => at < beginsAt).length
      checkTimes(seal, entries)
      if (entries.length === sealed.count && runHash(entries).equals(sealed.hash)) return entries
      const texts = compareMarks(name, entries, await sealed.marks())
      for (const text of texts) find(seal, text)
      if (texts.length === 0)
        find(seal, `The ${name}s with ids from ${afterId} to ${sealed.lastId} are not those of seal ${seal}.`)
      return null
    },
    /** How many entries have no seal yet. One that should have had its seal is a finding. */
    async checkUnsealed(afterId: string, lastId: string, sealableUntil: string): Promise<number> {
      let unsealed = 0
      let late = 0
      for await (const page of pages(db, read, afterId, lastId)) {
        checkTimes(null, page)
        unsealed += page.length
        late += page.filter(({ at }) => at < sealableUntil).length
      }
      const why = 'The sealer was held back, or seals were removed, or old entries were added.'
      if (late > 0) find(null, `${late} entries (${name}s) are older than 10 minutes and have no seal. ${why}`)
      return unsealed
    },
  }
}

/** As entries have their times. */
export function asMicros(instant: Date): string {
  return instant.toISOString().replace('Z', '000Z')
}

async function* pages(
  db: Queryable,
  read: ReadEntries,
  afterId: string,
  lastId: string,
): AsyncGenerator<HashedEntry[]> {
  for (let after = afterId; BigInt(after) < BigInt(lastId); ) {
    const page = await read(db, { afterId: after, lastId, limit: rowsAtOnce })
    yield page
    after = page.at(-1)?.id ?? lastId
  }
}
