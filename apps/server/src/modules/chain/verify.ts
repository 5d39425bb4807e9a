import { isDeepStrictEqual } from 'node:util'
import type { Queryable } from '../../platform/database/queryable.ts'
import { hasAct, lastActId } from '../audit/entry.ts'
import { countDisclosuresUpTo, lastDisclosureId } from '../disclosure/entry.ts'
import { type Drop, dropFacts, endOfMonth, listDrops, withRemaining } from './dropped.ts'
import { asMicros, createEntryCheck, type Find } from './entry-check.ts'
import { readSealKeys, type SealKeys } from './key-change.ts'
import { createPractices, type Practices } from './practice-heads.ts'
import type { PublishedSeals } from './published.ts'
import { type HashedEntry, hashActs, hashDisclosures } from './run.ts'
import { noSeal, practiceSealText, practicesHash, previousOf, type Seal, sealText, sha256 } from './seal.ts'
import type { SealPublicKey } from './seal-key.ts'
import {
  countLostPracticeSeals,
  findLastSeal,
  findLastSealBefore,
  listPracticeSealsOfSeal,
  listSeals,
  type PracticeHead,
  readAllHeads,
  readMarks,
} from './store.ts'

/** Something that an honest service never writes, in words for the person who looks for it. */
export type Finding = { seal: number | null; text: string }

export type VerifyReport = {
  seals: number
  disclosures: number
  acts: number
  practiceSeals: number
  /** When the first and the last of the seals that were looked at were made. */
  from: string | null
  to: string | null
  /** Entries from before the first seal of all: what they said until then is not proved. */
  beforeChain: number
  /** Entries that wait for their seal. */
  unsealed: number
  findings: number
  /** What the operator dropped, month by month: of these only the seals are left to check. */
  dropped: { month: string; droppedAt: string; disclosures: number; seal: number }[]
}

export type VerifyOptions = {
  /** A key that is trusted: that of today, or an earlier one. The keys of the other seals follow from the rotations. */
  key: SealPublicKey
  now: Date
  /** Seals made from then on; null: all, and then the practices' chains are computed again too. */
  from: Date | null
  until: Date | null
  /** Seals that were published outside; null: none are at hand. */
  published: PublishedSeals | null
  onFinding: (finding: Finding) => void
  /** Seals that were checked, and the number of the last one of all. */
  onProgress?: (done: number, total: number) => void
}

/** An honest entry waits for its seal for a minute; longer only when no server runs, and then there are no entries. */
const unsealedMsMax = 10 * 60_000
/** By as much the database's clock may be ahead of the clock of who looks. */
const aheadMsMax = 10 * 60_000
const sealsAtOnce = 50
/** There is a seal a minute, so the second round most often meets none. */
const roundsMax = 10

/**
 * Checks every seal against the entries as they are now, in order and with flat memory. Calls `onFinding` for each thing that is wrong. What
 * it reads is hashed here: no code of the database takes part.
 */
export async function verifyChain(db: Queryable, options: VerifyOptions): Promise<VerifyReport> {
  const { from, until, published } = options
  let findings = 0
  const find = (seal: number | null, text: string) => {
    findings += 1
    options.onFinding({ seal, text })
  }
  const keys = await readSealKeys(db, options.key, ({ changedAt }) =>
    find(
      null,
      `The change of the key for seals at ${changedAt} is not signed by both keys: it was made up or altered.`,
    ),
  )
  const first = from === null ? null : await findLastSealBefore(db, from)
  const dropped = await checkDrops(db, keys, find)
  const [chainBegin] = await listSeals(db, { after: 0, until: endOfTime, limit: 1 })
  const beginsAt = chainBegin?.sealedAt ?? ''
  const drop = dropped.at(-1) ?? null
  const possibleUntil = asMicros(new Date(options.now.getTime() + aheadMsMax))
  const ofEntries = { beginsAt, possibleUntil, find }
  const check = {
    ...options,
    keys,
    after: first,
    find,
    drop,
    disclosures: createEntryCheck(db, {
      name: 'disclosure',
      read: withRemaining(hashDisclosures, drop),
      ...ofEntries,
    }),
    acts: createEntryCheck(db, { name: 'act', read: hashActs, ...ofEntries }),
    practices: from === null ? createPractices(db, drop?.begins) : null,
  }
  let last: Seal | null = first
  let seals = 0
  let practiceSeals = 0
  let fromAt: string | null = null
  let areEntriesRight = true
  // What is sealed meanwhile moves the heads on, so it is checked before they are compared.
  for (let round = 1; ; round += 1) {
    for await (const { seal, disclosed } of checkSeals(db, { ...check, after: last })) {
      fromAt ??= seal.sealedAt
      seals += 1
      practiceSeals += seal.practices
      last = seal
      if (disclosed === null && seal.number > (drop?.sealNumber ?? 0)) areEntriesRight = false
    }
    if (check.practices === null || until !== null || !areEntriesRight) break
    const { newest, heads } = await readAllHeads(db)
    if (newest > (last?.number ?? 0) && round < roundsMax) continue
    compareHeads(heads, check.practices, find)
    break
  }
  const end: Seal | typeof noSeal = last ?? noSeal
  let unsealed = 0
  if (from === null && drop !== null) {
    const [sealed] = await listSeals(db, { after: drop.sealNumber - 1, until: endOfTime, limit: 1 })
    const added = await countDisclosuresUpTo(db, drop.sealNumber === sealed?.number ? sealed.lastDisclosureId : '0')
    if (added > 0) find(null, `${added} disclosures stand among those that were dropped: they were added later.`)
  }
  if (until === null) {
    const sealableUntil = asMicros(new Date(options.now.getTime() - unsealedMsMax))
    const ends = [
      [check.disclosures, end.lastDisclosureId, await lastDisclosureId(db)],
      [check.acts, end.lastActId, await lastActId(db)],
    ] as const
    for (const [kind, after, to] of ends) unsealed += await kind.checkUnsealed(after, to, sealableUntil)
    if (keys.lastPinned > end.number)
      find(
        null,
        `The key was changed after seal ${keys.lastPinned}, and the last one is ${end.number}: the end was removed.`,
      )
    await checkPublishedEnd(end.number, published, find)
    const lost = await countLostPracticeSeals(db)
    if (lost > 0) find(null, `${lost} practice seals belong to no seal.`)
  }
  return {
    seals,
    disclosures: check.disclosures.counts.entries,
    acts: check.acts.counts.entries,
    practiceSeals,
    from: fromAt,
    to: last === first ? null : (last?.sealedAt ?? null),
    beforeChain: check.disclosures.counts.beforeChain + check.acts.counts.beforeChain,
    unsealed,
    findings,
    dropped: dropped.map(({ month, droppedAt, disclosures, sealNumber }) => ({
      month,
      droppedAt,
      disclosures,
      seal: sealNumber,
    })),
  }
}

/** What seals are checked with and against. `drop`: the newest, up to whose seal there are no disclosures. */
export type SealCheck = Pick<VerifyOptions, 'until' | 'published' | 'onProgress'> & {
  keys: SealKeys
  after: Seal | null
  find: Find
  drop: Drop | null
  disclosures: ReturnType<typeof createEntryCheck>
  acts: ReturnType<typeof createEntryCheck>
  /** Null: their chains are not computed. */
  practices: Practices | null
}

/** Checks seal after seal, with the entries of each; `disclosed` null: they are dropped, or not those that were sealed. */
export async function* checkSeals(
  db: Queryable,
  check: SealCheck,
): AsyncGenerator<{ seal: Seal; disclosed: HashedEntry[] | null }> {
  const { keys, published, find, drop } = check
  const newest = (await findLastSeal(db))?.number ?? 0
  let { after: last, practices } = check
  for (;;) {
    const range = { after: last?.number ?? 0, until: check.until ?? endOfTime, limit: sealsAtOnce }
    const page = await listSeals(db, range)
    for (const seal of page) {
      const before: Seal | typeof noSeal = last ?? noSeal
      const key = keys.keyOf(seal.number)
      checkSeal(seal, last, key, find)
      if (keys.pinsOf(seal.number).some((hash) => !hash.equals(previousOf(seal))))
        find(
          seal.number,
          `Seal ${seal.number} is not the one after which the key was changed: the past was written again.`,
        )
      await checkPublished(seal, published, find)
      const marks = () => readMarks(db, seal.number)
      const isDropped = drop !== null && seal.number <= drop.sealNumber
      if (seal.number === drop?.sealNumber && sha256(sealText(seal)).toString('hex') !== drop.sealSha256)
        find(seal.number, `Seal ${seal.number} is not the last one of the dropped month ${drop.month}.`)
      const disclosed = isDropped
        ? null
        : await check.disclosures.check(seal.number, before.lastDisclosureId, {
            lastId: seal.lastDisclosureId,
            count: seal.disclosures,
            hash: seal.disclosuresSha256,
            marks: async () => (await marks()).disclosureMarks,
          })
      await check.acts.check(seal.number, before.lastActId, {
        lastId: seal.lastActId,
        count: seal.acts,
        hash: seal.actsSha256,
        marks: async () => (await marks()).actMarks,
      })
      // After a changed entry nothing computed from the entries fits any more: that says nothing new.
      if (disclosed === null && !isDropped) practices = null
      await practices?.add(disclosed ?? [])
      await checkPractices(db, seal, key, isDropped ? null : practices, find)
      last = seal
      check.onProgress?.(seal.number, newest)
      yield { seal, disclosed }
    }
    if (page.length < sealsAtOnce) return
  }
}

/** The drops that a key signed, in their order. */
async function checkDrops(db: Queryable, keys: SealKeys, find: Find): Promise<Drop[]> {
  const found: Drop[] = []
  for (const { month, drop, isRight } of await listDrops(db, keys)) {
    if (!isRight || drop === null) {
      find(null, `The record of the dropped month ${printable(month)} was changed, or signed with another key.`)
      continue
    }
    if (Date.parse(drop.droppedAt) < endOfMonth(month).droppableAt.getTime())
      find(null, `The month ${month} was dropped at ${drop.droppedAt}, less than six years after its end.`)
    if (!(await hasAct(db, 'disclosure.drop_month', dropFacts(drop)))) {
      const what = `${drop.disclosures} disclosures up to seal ${drop.sealNumber}`
      find(null, `The month ${month} was dropped without its act: none says that ${what} were dropped.`)
    }
    found.push(drop)
  }
  return found
}

function checkSeal(seal: Seal, last: Seal | null, key: SealPublicKey, find: Find): void {
  const { number } = seal
  const expected = (last?.number ?? 0) + 1
  if (number !== expected) find(number, `Seals ${expected} to ${number - 1} are missing.`)
  if (!seal.previous.equals(previousOf(last))) {
    find(
      number,
      `Seal ${number} does not continue the seal before it: one of the two was changed, or a seal between them was removed.`,
    )
  }
  if (seal.keyId !== key.id) find(number, `Seal ${number} was signed with another key, ${printable(seal.keyId)}.`)
  else if (!key.verifies(sealText(seal), seal.signature))
    find(number, `The signature of seal ${number} is wrong: the seal was changed.`)
}

async function checkPublished(seal: Seal, published: PublishedSeals | null, find: Find): Promise<void> {
  const hash = sha256(sealText(seal)).toString('hex')
  const outside = (await published?.hashesOf(seal.number)) ?? []
  if (outside.some((each) => each !== hash))
    find(seal.number, `Seal ${seal.number} is not the one that was published: the past was written again.`)
}

async function checkPublishedEnd(last: number, published: PublishedSeals | null, find: Find): Promise<void> {
  const newest = (await published?.newest()) ?? 0
  if (newest > last) {
    find(
      null,
      `Seals up to ${newest} were published, and the last one here is ${last}: the end of the chain was removed.`,
    )
  }
}

async function checkPractices(
  db: Queryable,
  seal: Seal,
  key: SealPublicKey,
  practices: Practices | null,
  find: Find,
): Promise<void> {
  const seals = await listPracticeSealsOfSeal(db, seal.number)
  if (seals.length !== seal.practices || !practicesHash(seals).equals(seal.practicesSha256))
    find(seal.number, `The practice seals of seal ${seal.number} are not those that it was made with.`)
  for (const each of seals) {
    const name = `The practice seal of organization ${each.organizationId} after ${each.entries} entries`
    if (each.keyId !== key.id || !key.verifies(practiceSealText(each), each.signature))
      find(seal.number, `${name} has a wrong signature.`)
    if (practices && !practices.agrees(each))
      find(seal.number, `${name} does not fit the disclosures of that organization's locations.`)
  }
}

/** Compares where each practice's chain is said to be with its disclosures. */
function compareHeads(heads: readonly PracticeHead[], practices: Practices, find: Find): void {
  const stored = new Map(heads.map((head) => [head.organizationId, head]))
  const computed = new Map(practices.heads().map((head) => [head.organizationId, head]))
  for (const id of new Set([...stored.keys(), ...computed.keys()])) {
    if (isDeepStrictEqual(stored.get(id), computed.get(id))) continue
    find(null, `The head of organization ${id} does not fit the disclosures of its locations: it was changed.`)
  }
}

const endOfTime = new Date(8.64e15)

function printable(text: string): string {
  return text.replaceAll(/[^\w-]/g, '?').slice(0, 40)
}
