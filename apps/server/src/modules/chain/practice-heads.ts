import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { organizationsOfLocations } from '../directory/location.ts'
import type { HashedEntry } from './run.ts'
import { firstHead, nextHead } from './seal.ts'
import { type PracticeHead, readHeads, type StoredPracticeSeal, saveHeads } from './store.ts'

/** Moves the heads of the practices on by these disclosures, which follow those that were added before. */
export async function addToHeads(db: Queryable, entries: readonly HashedEntry[]): Promise<void> {
  if (entries.length === 0) return
  const owners = await organizationsOfLocations(db, locationsOf(entries))
  const stored = await readHeads(db, [...new Set(owners.values())])
  const heads = new Map(stored.map((head) => [head.organizationId, head]))
  for (const entry of entries) addToHead(heads, owners, entry)
  await saveHeads(db, [...heads.values()])
}

/** The locations of these entries, each once. */
function locationsOf(entries: readonly HashedEntry[]): LocationId[] {
  return [...new Set(entries.flatMap(({ locationId }) => locationId ?? []))]
}

export type Practices = ReturnType<typeof createPractices>

/** The practices' chains, computed again from all disclosures in their order. `begins`: where they begin, when older ones were dropped. */
export function createPractices(db: Queryable, begins: readonly PracticeHead[] = []) {
  const heads = new Map(begins.map((begin) => [begin.organizationId, begin]))
  const owners = new Map<LocationId, OrganizationId>()
  return {
    async add(entries: readonly HashedEntry[]): Promise<void> {
      const unknown = locationsOf(entries).filter((id) => !owners.has(id))
      if (unknown.length > 0)
        for (const [id, owner] of await organizationsOfLocations(db, unknown)) owners.set(id, owner)
      for (const entry of entries) addToHead(heads, owners, entry)
    },
    /** Every chain as it is now, in order of organization. */
    heads: (): PracticeHead[] =>
      [...heads.values()].toSorted((a, b) => Number(BigInt(a.organizationId) - BigInt(b.organizationId))),
    /** Whether a practice's seal says what its chain is now. The next one is compared with the entries after it. */
    agrees(seal: StoredPracticeSeal): boolean {
      const head = heads.get(seal.organizationId)
      if (head === undefined) return false
      heads.set(seal.organizationId, sealed(head))
      return (
        head.entries === seal.entries &&
        head.head.equals(seal.head) &&
        head.lastDisclosureId === seal.lastDisclosureId &&
        head.firstAt === seal.firstAt &&
        head.lastAt === seal.lastAt
      )
    },
  }
}

/** The head of a chain that was just sealed. */
export function sealed(head: PracticeHead): PracticeHead {
  return { ...head, unsealed: 0, firstAt: null, lastAt: null }
}

/** Moves one practice's head on. An entry of a location that there is not is on no practice's chain. */
function addToHead(
  heads: Map<OrganizationId, PracticeHead>,
  owners: ReadonlyMap<LocationId, OrganizationId>,
  { id, at, locationId, hash }: HashedEntry,
): void {
  const organizationId = locationId === null ? undefined : owners.get(locationId)
  if (organizationId === undefined) return
  const before = heads.get(organizationId) ?? emptyHead(organizationId)
  heads.set(organizationId, {
    organizationId,
    entries: String(BigInt(before.entries) + 1n),
    head: nextHead(before.head, hash),
    lastDisclosureId: id,
    unsealed: before.unsealed + 1,
    firstAt: before.firstAt !== null && before.firstAt < at ? before.firstAt : at,
    lastAt: before.lastAt !== null && before.lastAt > at ? before.lastAt : at,
  })
}

/** A practice without disclosures. */
function emptyHead(organizationId: OrganizationId): PracticeHead {
  return {
    organizationId,
    entries: '0',
    head: firstHead(organizationId),
    lastDisclosureId: '0',
    unsealed: 0,
    firstAt: null,
    lastAt: null,
  }
}
