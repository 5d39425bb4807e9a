import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import type { Queryable } from '../../platform/database/queryable.ts'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { FactsOf } from '../audit/in-words.ts'
import { dropMonthTables, listMonths, type Month, measureMonth } from '../disclosure/months.ts'
import {
  type Drop,
  dropFacts,
  endOfMonth,
  findLastDrop,
  insertDrop,
  practiceDropText,
  withRemaining,
} from './dropped.ts'
import { createEntryCheck } from './entry-check.ts'
import { readSealKeys } from './key-change.ts'
import { createPractices } from './practice-heads.ts'
import { hashActs, hashDisclosures } from './run.ts'
import { previousOf, type Seal } from './seal.ts'
import type { SealKey } from './seal-key.ts'
import { findLastSeal, findLastSealUpTo, listSeals, lockDrops } from './store.ts'
import { checkSeals } from './verify.ts'

/** A month that may be dropped: what it holds. */
export type DroppableMonth = Month & Awaited<ReturnType<typeof measureMonth>>

/** The month, if it may be dropped now. Throws a Problem that says why not: younger than six years, not the oldest, or not wholly sealed. */
export async function requireDroppable(db: Queryable, month: string, now: Date): Promise<DroppableMonth> {
  const months = await listMonths(db)
  const found = months.find((each) => each.month === month)
  if (!found) throw refusal(`There is no table of the month ${month}. The oldest is of ${months[0]?.month ?? 'none'}.`)
  const { endsAt, droppableAt } = endOfMonth(month)
  if (droppableAt > now || droppableAt > (await clockOf(db)))
    throw refusal(`${month} may be dropped from ${dayOf(droppableAt)} on, six years after its end.`)
  if (found !== months[0]) throw refusal(`Months are dropped in their order. Drop ${months[0]?.month} first.`)
  const content = await measureMonth(db, endsAt)
  const sealed = (await findLastSeal(db))?.lastDisclosureId ?? '0'
  if (content.disclosures > 0 && BigInt(content.lastId) > BigInt(sealed))
    throw refusal(`Disclosures of ${month} have no seal yet. Start the server, wait a minute, and repeat the command.`)
  return { ...found, ...content }
}

/**
 * Drops the oldest month and puts on record what it was, signed, in one transaction: the disclosures that are left verify on. First checks that
 * its disclosures are those that were sealed. `owner`: a connection as the schema's owner. Throws a Problem, and then nothing has changed.
 */
export async function dropMonth(
  owner: ClientBase,
  { month, key, now, record, onProgress }: DropRequest,
): Promise<{ month: DroppableMonth; drop: Drop }> {
  await owner.query('begin')
  try {
    await lockDrops(owner)
    const droppable = await requireDroppable(owner, month, now)
    const drop = await replay(owner, droppable, key, now, onProgress)
    await insertDrop(owner, drop, key)
    await record(owner, dropFacts(drop))
    await withoutWaiting(owner, () => dropMonthTables(owner, droppable))
    await owner.query('commit')
    return { month: droppable, drop }
  } catch (error) {
    await owner.query('rollback')
    throw error
  }
}

type Progress = (done: number, total: number) => void

/** `record` puts the act on record, in the same transaction. */
type DropRequest = {
  month: string
  key: SealKey
  now: Date
  record: (db: Queryable, facts: FactsOf<'disclosure.drop_month'>) => Promise<void>
  onProgress: Progress
}

/** Goes over the seals of the month once more: where each practice's chain is after them, and which hashes later seals still need. */
async function replay(
  db: Queryable,
  { month, disclosures, lastId, firstIdAfter }: DroppableMonth,
  key: SealKey,
  now: Date,
  onProgress: Progress,
): Promise<Drop> {
  const keys = await readSealKeys(db, key)
  const before = await findLastDrop(db, keys)
  const from = before === null ? null : await sealOf(db, before.sealNumber)
  const end = disclosures === 0 ? from : await findLastSealUpTo(db, firstIdAfter)
  const endsAt = endOfMonth(month).endsAt.toISOString()
  const practices = createPractices(db, before?.begins)
  const anyTime = { beginsAt: '', possibleUntil: null }
  const find = (_: number | null, text: string) => {
    throw refusal(`${text} Nothing was dropped. Run "disclosure verify".`)
  }
  const remaining = (before?.remaining ?? []).filter(({ id }) => BigInt(id) > BigInt(end?.lastDisclosureId ?? '0'))
  let heads = practices.heads()
  if (disclosures > 0) {
    const read = withRemaining(hashDisclosures, before)
    const seals = checkSeals(db, {
      keys,
      after: from,
      until: null,
      published: null,
      find,
      drop: before,
      disclosures: createEntryCheck(db, { name: 'disclosure', read, ...anyTime, find }),
      acts: createEntryCheck(db, { name: 'act', read: hashActs, ...anyTime, find }),
      practices,
      onProgress: (done) => onProgress(Math.min(done, end?.number ?? done), end?.number ?? done),
    })
    const known = new Set(remaining.map(({ id }) => id))
    for await (const { seal, disclosed } of seals) {
      if (seal.number === end?.number) heads = practices.heads()
      if (seal.number > (end?.number ?? 0))
        remaining.push(...(disclosed ?? []).filter(({ id, at }) => at < endsAt && !known.has(id)))
      if (seal.number >= (end?.number ?? 0) && BigInt(seal.lastDisclosureId) >= BigInt(lastId)) break
    }
  }
  const drop = {
    month,
    droppedAt: now.toISOString().replace('Z', '000Z'),
    disclosures,
    sealNumber: end?.number ?? 0,
    sealSha256: previousOf(end).toString('hex'),
    keyId: key.id,
    remaining: remaining.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id))),
  }
  return { ...drop, begins: heads.map((head) => ({ ...head, signature: key.sign(practiceDropText(drop, head)) })) }
}

async function sealOf(db: Queryable, number: number): Promise<Seal | null> {
  const [seal] = await listSeals(db, { after: number - 1, until: new Date(8.64e15), limit: 1 })
  return seal?.number === number ? seal : null
}

/** The exclusive lock on the whole table is waited for a second at most, because reads queue behind it; then they go first. */
async function withoutWaiting(owner: ClientBase, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await owner.query(`savepoint waiting; set local lock_timeout = '1s'`)
      await work()
      return
    } catch (error) {
      if (databaseErrorCode(error) !== '55P03' || attempt === attemptsMax) throw error
      await owner.query('rollback to savepoint waiting')
      await sleep(500)
    }
  }
}

const attemptsMax = 120

async function clockOf(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now')
  return rows[0]?.now ?? new Date(0)
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

function refusal(errors: string): Problem {
  return new Problem('month_kept', { errors })
}
