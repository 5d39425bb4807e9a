import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { actText, readSealedActs } from '../audit/entry.ts'
import { disclosureText, readDisclosureFacts } from '../disclosure/entry.ts'
import { sha256 } from './seal.ts'

/** What of an entry is needed once it is hashed. An act has no location. */
export type HashedEntry = { id: string; at: string; locationId: LocationId | null; hash: Buffer }

/** Entries of one kind in order of id. `lastId`: up to there nothing else can be; `isMore`: more come after it. */
export type Run = { entries: HashedEntry[]; lastId: string; isMore: boolean }

/** Reads the next entries of one kind and hashes them: at most `limit`, none only where none is left. */
export type ReadEntries = (
  db: Queryable,
  range: { afterId: string; lastId: string; limit: number },
) => Promise<HashedEntry[]>

export const hashDisclosures: ReadEntries = async (db, range) =>
  (await readDisclosureFacts(db, range)).map((facts) => ({
    id: facts.id,
    at: facts.disclosed_at,
    locationId: facts.location_id,
    hash: sha256(disclosureText(facts)),
  }))

export const hashActs: ReadEntries = async (db, range) =>
  (await readSealedActs(db, range)).map((facts) => ({
    id: facts.id,
    at: facts.occurred_at,
    locationId: null,
    hash: sha256(actText(facts)),
  }))

/** How many rows are held at a time. */
export const rowsAtOnce = 250

/** The next entries, at most so many, with ids in (afterId, lastId]. `lastId` null: none. */
export async function readRun(
  db: Queryable,
  read: ReadEntries,
  afterId: string,
  lastId: string | null,
  entriesMax: number,
): Promise<Run> {
  const entries: HashedEntry[] = []
  if (lastId === null || BigInt(lastId) <= BigInt(afterId)) return { entries, lastId: afterId, isMore: false }
  let reached = afterId
  while (entries.length < entriesMax && reached !== lastId) {
    const limit = Math.min(rowsAtOnce, entriesMax - entries.length)
    const found = await read(db, { afterId: reached, lastId, limit })
    entries.push(...found)
    reached = found.at(-1)?.id ?? lastId
  }
  return { entries, lastId: reached, isMore: reached !== lastId }
}

/** The hash of a run of entries. */
export function runHash(entries: readonly HashedEntry[]): Buffer {
  return sha256(Buffer.concat(entries.map(({ hash }) => hash)))
}
