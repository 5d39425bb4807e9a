import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import {
  type DisclosureFactsRow,
  lastDisclosureId,
  listDisclosureIds,
  readDisclosureFactsByIds,
} from '../disclosure/entry.ts'
import { type Drop, findLastDrop, type PracticeBegin } from './dropped.ts'
import { readSealKeys } from './key-change.ts'
import type { HashedEntry } from './run.ts'
import type { SealPublicKey } from './seal-key.ts'
import type { StoredPracticeSeal } from './store.ts'
import { findPracticeSealBefore, listPracticeSeals } from './store.ts'

/** Parts of an export in their order: the seal that it begins after, disclosures, and each seal after the disclosures that it covers. */
export type ExportPart =
  | { type: 'begin'; seal: StoredPracticeSeal | null; dropped: DroppedPart | null }
  | { type: 'entries'; rows: DisclosureFactsRow[] }
  | { type: 'dropped'; entry: HashedEntry }
  | { type: 'seal'; seal: StoredPracticeSeal }
  | { type: 'end' }

/** What was dropped of the practice's chain: an export of all begins after it. */
export type DroppedPart = { drop: Drop; begin: PracticeBegin }

const sealsAtOnce = 100
const rowsAtOnce = 500
/** What became visible late has a time a little before the seal that it missed. */
const lateMs = 60 * 60_000
const endOfTime = '294000-01-01T00:00:00Z'

/**
 * A practice's disclosures in the order of its chain with its seals, read as fast as the reader takes them: what a stand-alone verifier needs
 * (docs/decisions/chain.md). `from`: begins after the last seal that was made before then. The newest disclosures have no seal yet.
 */
export async function* sealedExport(
  db: Queryable,
  {
    organizationId,
    locationIds,
    from,
    key,
  }: { organizationId: OrganizationId; locationIds: readonly LocationId[]; from: Date | null; key: SealPublicKey },
): AsyncGenerator<ExportPart> {
  // What is disclosed while it runs is not in it.
  const end = await lastDisclosureId(db)
  const drop = await findLastDrop(db, await readSealKeys(db, key))
  const begin = drop?.begins.find((each) => each.organizationId === organizationId)
  const dropped = drop !== null && begin !== undefined ? { drop, begin } : null
  const remaining = (drop?.remaining ?? []).filter(({ locationId }) => locationId && locationIds.includes(locationId))
  const before = from === null ? null : await findPracticeSealBefore(db, organizationId, from)
  let last: Pick<StoredPracticeSeal, 'entries' | 'lastDisclosureId' | 'lastAt'> | null = before
  if (begin !== undefined && BigInt(begin.entries) > BigInt(before?.entries ?? 0)) {
    last = { ...begin, lastAt: begin.lastAt ?? '-infinity' }
    yield { type: 'begin', seal: null, dropped }
  } else yield { type: 'begin', seal: before, dropped }
  for (;;) {
    const seals = await listPracticeSeals(db, organizationId, last?.entries ?? '0', sealsAtOnce)
    for (const seal of seals) {
      const times = { firstAt: seal.firstAt, lastAt: seal.lastAt }
      const ids = { afterId: last?.lastDisclosureId ?? '0', lastId: seal.lastDisclosureId }
      yield* entries(db, locationIds, remaining, { ...times, ...ids })
      yield { type: 'seal', seal }
      last = seal
    }
    if (seals.length < sealsAtOnce) break
  }
  yield* entries(db, locationIds, remaining, {
    firstAt:
      last === null || last.lastAt === '-infinity'
        ? '-infinity'
        : new Date(Date.parse(last.lastAt) - lateMs).toISOString(),
    lastAt: endOfTime,
    afterId: last?.lastDisclosureId ?? '0',
    lastId: end,
  })
  yield { type: 'end' }
}

async function* entries(
  db: Queryable,
  locationIds: readonly LocationId[],
  remaining: readonly HashedEntry[],
  range: Parameters<typeof listDisclosureIds>[2],
): AsyncGenerator<ExportPart> {
  const ids = await listDisclosureIds(db, locationIds, range)
  const rowsOf = async function* (to: number): AsyncGenerator<ExportPart> {
    for (; at < to; at += rowsAtOnce) {
      const some = ids.slice(at, Math.min(to, at + rowsAtOnce))
      yield { type: 'entries', rows: await readDisclosureFactsByIds(db, some, range) }
    }
    at = to
  }
  let at = 0
  for (const entry of remaining) {
    if (BigInt(entry.id) <= BigInt(range.afterId) || BigInt(entry.id) > BigInt(range.lastId)) continue
    let place = at
    while (place < ids.length && BigInt(ids[place] ?? 0) < BigInt(entry.id)) place += 1
    yield* rowsOf(place)
    yield { type: 'dropped', entry }
  }
  yield* rowsOf(ids.length)
}
