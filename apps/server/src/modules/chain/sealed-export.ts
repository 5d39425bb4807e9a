import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import {
  type DisclosureFactsRow,
  lastDisclosureId,
  listDisclosureIds,
  readDisclosureFactsByIds,
} from '../disclosure/entry.ts'
import type { StoredPracticeSeal } from './store.ts'
import { findPracticeSealBefore, listPracticeSeals } from './store.ts'

/** Parts of an export in their order: the seal that it begins after, disclosures, and each seal after the disclosures that it covers. */
export type ExportPart =
  | { type: 'begin'; seal: StoredPracticeSeal | null }
  | { type: 'entries'; rows: DisclosureFactsRow[] }
  | { type: 'seal'; seal: StoredPracticeSeal }
  | { type: 'end' }

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
  }: { organizationId: OrganizationId; locationIds: readonly LocationId[]; from: Date | null },
): AsyncGenerator<ExportPart> {
  // What is disclosed while it runs is not in it.
  const end = await lastDisclosureId(db)
  let last = from === null ? null : await findPracticeSealBefore(db, organizationId, from)
  yield { type: 'begin', seal: last }
  for (;;) {
    const seals = await listPracticeSeals(db, organizationId, last?.entries ?? '0', sealsAtOnce)
    for (const seal of seals) {
      const times = { firstAt: seal.firstAt, lastAt: seal.lastAt }
      const ids = { afterId: last?.lastDisclosureId ?? '0', lastId: seal.lastDisclosureId }
      yield* entries(db, locationIds, { ...times, ...ids })
      yield { type: 'seal', seal }
      last = seal
    }
    if (seals.length < sealsAtOnce) break
  }
  yield* entries(db, locationIds, {
    firstAt: last === null ? '-infinity' : new Date(Date.parse(last.lastAt) - lateMs).toISOString(),
    lastAt: endOfTime,
    afterId: last?.lastDisclosureId ?? '0',
    lastId: end,
  })
  yield { type: 'end' }
}

async function* entries(
  db: Queryable,
  locationIds: readonly LocationId[],
  range: Parameters<typeof listDisclosureIds>[2],
): AsyncGenerator<ExportPart> {
  const ids = await listDisclosureIds(db, locationIds, range)
  for (let at = 0; at < ids.length; at += rowsAtOnce)
    yield { type: 'entries', rows: await readDisclosureFactsByIds(db, ids.slice(at, at + rowsAtOnce), range) }
}
