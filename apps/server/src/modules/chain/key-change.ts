import { instantText } from '../../platform/database/instant-text.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { previousOf } from './seal.ts'
import { readSealPublicKey, type SealKey, type SealPublicKey } from './seal-key.ts'
import { findLastSeal } from './store.ts'

/** A rotation of the key that signs seals, signed with both: who trusts one of the two keys may trust the other. */
export type SealKeyChange = {
  /** Public keys, as they are published. */
  previousKey: string
  nextKey: string
  /** The last seal that the one before has signed. */
  lastSeal: number
  /** Its hash, as the next seal names it. What the key after has signed here, a thief of the key before cannot write again. */
  lastSealSha256: Buffer
  /** UTC with six decimals, as in the text. */
  changedAt: string
  previousSignature: Buffer
  nextSignature: Buffer
}

/** Hands over from one key to the next after the newest seal. Hand down a transaction that holds the chain. */
export async function changeSealKey(db: Queryable, previous: SealKey, next: SealKey, now: Date): Promise<void> {
  const last = await findLastSeal(db)
  const change = {
    previousKey: previous.text,
    nextKey: next.text,
    lastSeal: last?.number ?? 0,
    lastSealSha256: previousOf(last),
    changedAt: now.toISOString().replace('Z', '000Z'),
  }
  const text = keyChangeText(change)
  await db.query(
    `insert into seal_key_change (previous_key, next_key, last_seal, last_seal_sha256, changed_at, previous_signature, next_signature)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      change.previousKey,
      change.nextKey,
      change.lastSeal,
      change.lastSealSha256,
      change.changedAt,
      previous.sign(text),
      next.sign(text),
    ],
  )
}

/** Every rotation, the oldest first. */
export async function listSealKeyChanges(db: Queryable): Promise<SealKeyChange[]> {
  const { rows } = await db.query<RowOf<SealKeyChange>>(
    `select previous_key, next_key, last_seal::float8, last_seal_sha256, previous_signature, next_signature,
            ${instantText('changed_at')} as changed_at
       from seal_key_change
      order by number`,
  )
  return rows.map(fromRow<SealKeyChange>)
}

export type SealKeys = {
  /** Every key, the oldest first. */
  all: readonly SealPublicKey[]
  /** The key with which a seal must be signed. */
  keyOf: (seal: number) => SealPublicKey
  /** The hashes that rotations name of this seal. */
  pinsOf: (seal: number) => Buffer[]
  /** The highest seal that a rotation names. */
  lastPinned: number
}

/** Which key signed what, from one that is trusted, by the rotations that are on record. A forged one is given to `onForged`. */
export async function readSealKeys(
  db: Queryable,
  trusted: SealPublicKey,
  onForged: (change: SealKeyChange) => void = () => {},
): Promise<SealKeys> {
  return sealKeysFrom(trusted, await listSealKeyChanges(db), onForged)
}

/**
 * Which key signed which seal, from one that is trusted and the rotations before and after it. A change that is not signed by both of its keys
 * leads nowhere, and is given to `onForged`.
 */
function sealKeysFrom(
  trusted: SealPublicKey,
  changes: readonly SealKeyChange[],
  onForged: (change: SealKeyChange) => void,
): SealKeys {
  const valid = changes.filter((change) => {
    const isValid = isSignedByBoth(change)
    if (!isValid) onForged(change)
    return isValid
  })
  const keys: { key: SealPublicKey; lastSeal: number }[] = [{ key: trusted, lastSeal: Number.POSITIVE_INFINITY }]
  for (const { previousKey, nextKey, lastSeal } of valid.toReversed()) {
    const previous = readSealPublicKey(previousKey)
    if (previous && nextKey === keys[0]?.key.text) keys.unshift({ key: previous, lastSeal })
  }
  for (const { previousKey, nextKey, lastSeal } of valid) {
    const next = readSealPublicKey(nextKey)
    const last = keys.at(-1)
    if (!next || !last || previousKey !== last.key.text) continue
    last.lastSeal = lastSeal
    keys.push({ key: next, lastSeal: Number.POSITIVE_INFINITY })
  }
  return {
    all: keys.map(({ key }) => key),
    keyOf: (seal) => keys.find(({ lastSeal }) => seal <= lastSeal)?.key ?? trusted,
    pinsOf: (seal) => valid.filter(({ lastSeal }) => lastSeal === seal).map((change) => change.lastSealSha256),
    lastPinned: Math.max(0, ...valid.map(({ lastSeal }) => lastSeal)),
  }
}

function isSignedByBoth(change: SealKeyChange): boolean {
  const [previous, next] = [readSealPublicKey(change.previousKey), readSealPublicKey(change.nextKey)]
  const text = keyChangeText(change)
  return Boolean(previous?.verifies(text, change.previousSignature) && next?.verifies(text, change.nextSignature))
}

/** The text that is signed. Never changed: seals of years depend on it. */
function keyChangeText(change: Omit<SealKeyChange, 'previousSignature' | 'nextSignature'>): string {
  const { previousKey, nextKey, lastSeal, lastSealSha256, changedAt } = change
  return JSON.stringify(['seal key', previousKey, nextKey, String(lastSeal), lastSealSha256.toString('hex'), changedAt])
}
