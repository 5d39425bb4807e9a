import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import type { FactsOf } from '../audit/in-words.ts'
import type { SealKeys } from './key-change.ts'
import type { HashedEntry, ReadEntries } from './run.ts'
import type { SealKey } from './seal-key.ts'
import type { PracticeHead } from './store.ts'

/** Where what is left of a practice's chain begins. `signature`: over `practiceDropText`. */
export type PracticeBegin = PracticeHead & { signature: Buffer }

/** A month of disclosures that was dropped, with all before it: docs/decisions/chain.md. */
export type Drop = {
  /** The last of the dropped months, as `2019-03`. */
  month: string
  droppedAt: string
  disclosures: number
  /** The newest seal whose disclosures are all gone; number 0: none. */
  sealNumber: number
  sealSha256: string
  keyId: string
  /** Dropped disclosures of later seals: these have others too, and are checked with the hashes. In order of id. */
  remaining: HashedEntry[]
  begins: PracticeBegin[]
}

/** The text that is signed. Never changed: the drops of years depend on it. */
export function dropText(drop: Drop): string {
  return JSON.stringify([
    'drop',
    drop.month,
    drop.droppedAt,
    String(drop.disclosures),
    String(drop.sealNumber),
    drop.sealSha256,
    drop.keyId,
    drop.remaining.map(({ id, at, locationId, hash }) => [id, at, locationId, hash.toString('hex')]),
    drop.begins.map((begin) => [
      begin.organizationId,
      begin.entries,
      begin.head.toString('hex'),
      begin.lastDisclosureId,
      String(begin.unsealed),
      begin.firstAt,
      begin.lastAt,
      begin.signature.toString('base64url'),
    ]),
  ])
}

/** As `dropText`, what one practice's export begins after: nothing of other practices is in it. */
export function practiceDropText(drop: Omit<Drop, 'begins'>, head: PracticeHead): string {
  return JSON.stringify([
    'practice drop',
    head.organizationId,
    drop.month,
    drop.droppedAt,
    head.entries,
    head.head.toString('hex'),
    head.lastDisclosureId,
    remainingTo(drop),
    drop.keyId,
  ])
}

/** The highest id of a dropped disclosure whose hash remains; '0': none does. */
export function remainingTo({ remaining }: Pick<Drop, 'remaining'>): string {
  return remaining.at(-1)?.id ?? '0'
}

/** What the act of a drop says: `verify` asks for it, so that no month goes without an act on the chain. */
export function dropFacts({ month, disclosures, sealNumber, sealSha256 }: Drop): FactsOf<'disclosure.drop_month'> {
  return { month, disclosures, sealNumber, sealSha256 }
}

/** The drops in their order; `isRight` false: the text is not what one of the keys signed. */
export async function listDrops(
  db: Queryable,
  keys: Pick<SealKeys, 'all'>,
): Promise<{ month: string; drop: Drop | null; isRight: boolean }[]> {
  const { rows } = await db.query<{ month: string; text: string; signature: Buffer }>(
    'select month, text, signature from disclosure_drop order by month',
  )
  return rows.map(({ month, text, signature }) => {
    const key = keys.all.find((each) => each.verifies(text, signature))
    const drop = key ? readDrop(text) : null
    return { month, drop, isRight: drop?.month === month && drop.keyId === key?.id }
  })
}

/** The newest drop that one of the keys signed, or null. */
export async function findLastDrop(db: Queryable, keys: Pick<SealKeys, 'all'>): Promise<Drop | null> {
  return (await listDrops(db, keys)).findLast(({ isRight }) => isRight)?.drop ?? null
}

export async function insertDrop(owner: Queryable, drop: Drop, key: SealKey): Promise<void> {
  const text = dropText(drop)
  await owner.query('insert into disclosure_drop (month, text, signature) values ($1, $2, $3)', [
    drop.month,
    text,
    key.sign(text),
  ])
}

/** When a month ends (UTC), and when what it has may be dropped: six years later (45 CFR 164.316, 164.528). */
export function endOfMonth(month: string): { endsAt: Date; droppableAt: Date } {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return { endsAt: new Date(Date.UTC(year, number, 1)), droppableAt: new Date(Date.UTC(year + 6, number, 1)) }
}

/** Reads what is left together with the hashes that remain of what was dropped, in order of id. */
export function withRemaining(read: ReadEntries, drop: Drop | null): ReadEntries {
  const remaining = drop?.remaining ?? []
  return async (db, range) => {
    const found = await read(db, range)
    const [after, last] = [BigInt(range.afterId), BigInt(range.lastId)]
    const dropped = remaining.filter(({ id }) => BigInt(id) > after && BigInt(id) <= last)
    if (dropped.length === 0) return found
    return [...found, ...dropped].toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id))).slice(0, range.limit)
  }
}

/** A text that the key signed has this form: nothing else was ever signed as a drop. */
function readDrop(text: string): Drop | null {
  const [kind, month, droppedAt, disclosures, sealNumber, sealSha256, keyId, remaining, begins] = JSON.parse(text)
  if (kind !== 'drop') return null
  return {
    month,
    droppedAt,
    disclosures: Number(disclosures),
    sealNumber: Number(sealNumber),
    sealSha256,
    keyId,
    remaining: remaining.map(([id, at, locationId, hash]: [string, string, LocationId, string]) => ({
      id,
      at,
      locationId,
      hash: Buffer.from(hash, 'hex'),
    })),
    begins: begins.map((begin: [OrganizationId, ...string[]]) => {
      const [organizationId, entries = '', head = '', lastDisclosureId = '', unsealed, firstAt, lastAt, signature] =
        begin
      return {
        organizationId,
        entries,
        head: Buffer.from(head, 'hex'),
        lastDisclosureId,
        unsealed: Number(unsealed),
        firstAt: firstAt ?? null,
        lastAt: lastAt ?? null,
        signature: Buffer.from(signature ?? '', 'base64url'),
      }
    }),
  }
}
