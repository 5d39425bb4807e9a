import type { Pool } from 'pg'
import { Problem } from '../../../platform/errors/problem.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import {
  addMissing,
  beganBefore,
  deleteMissing,
  findList,
  findListed,
  findMissingIn,
  type ListKey,
  listVisibleRange,
  type OpenList,
  replaceList,
  saveAnswer,
  saveCovered,
} from './complete-list-store.ts'
import { hideMovedTo } from './moved.ts'
import { reconcile } from './reconcile.ts'

/** A key of a complete list with the hash of what the agent believes was sent, in hex: as many digits as it sends. */
export type ListEntry = { sourceId: string; hash: string | null }

/** At most this many records are compared with a list at once. */
const comparedMax = 10_000

/** Begins a complete list of a dataset, in place of the last one. Throws list_unknown when it was read before another agent wrote at the location. */
export async function beginList(
  deps: { pool: Pool; now: () => Date },
  { firstUpload, ...list }: ListKey & { beganAtUpload: string; firstUpload: string },
): Promise<string> {
  if (BigInt(list.beganAtUpload) < BigInt(firstUpload)) throw beganBefore()
  return replaceList(deps.pool, list, deps.now())
}

/**
 * Compares one slice of a list: the keys after `after`, in the order of their bytes. Notes which visible records in its range it does not name,
 * and returns which of its keys are not visible here (but for records that their source hides) and which have other content. A slice that is
 * sent again is compared again. Throws list_unknown, and field_invalid when a slice before it is missing.
 */
export async function compareSlice(
  pool: Pool,
  key: ListKey,
  listId: string,
  slice: { after: string; entries: readonly ListEntry[] },
): Promise<{ unknown: string[]; different: string[] }> {
  const list = await openList(pool, key, listId)
  if (isBefore(list.coveredTo, slice.after)) {
    throw new Problem('field_invalid', { errors: 'A slice before this one is missing: send it first.' })
  }
  const sourceIds = slice.entries.map(({ sourceId }) => sourceId)
  const last = sourceIds.at(-1)
  if (last !== undefined) await noteMissing(pool, list, { after: slice.after, to: last }, new Set(sourceIds))
  const hashLength = slice.entries.find(({ hash }) => hash !== null)?.hash?.length ?? 0
  const stored = await findListed(pool, key, sourceIds, hashLength)
  const unknown: string[] = []
  const different: string[] = []
  for (const { sourceId, hash } of slice.entries) {
    const record = stored.get(sourceId)
    // A hidden record with the hash that was sent is hidden by its source: hiding it here changed its content.
    if (!record || (record.isHidden && record.hash !== hash)) unknown.push(sourceId)
    else if (hash !== null && record.hash !== hash) different.push(sourceId)
  }
  return { unknown, different }
}

/** Ends a list: what it misses is hidden, or held for a person, as `reconcile` says. The same answer again when it is asked again. */
export async function finishList(
  deps: { pool: Pool; now: () => Date; log: Log },
  key: ListKey,
  listId: string,
): Promise<{ hidden: number; remaining?: number }> {
  const list = await openList(deps.pool, key, listId)
  const answer = list.answer === null ? await decide(deps, key, list) : JSON.parse(list.answer)
  await hideMovedTo(deps.pool, key)
  return answer
}

async function decide(
  deps: { pool: Pool; now: () => Date; log: Log },
  key: ListKey,
  list: OpenList,
): Promise<{ hidden: number; remaining?: number }> {
  await noteMissing(deps.pool, list, { after: list.coveredTo, to: null }, new Set())
  const unlisted = (sourceIds: readonly string[]) => findMissingIn(deps.pool, list, sourceIds)
  const answer = await reconcile(deps, { ...key, beganAtUpload: list.beganAtUpload, unlisted })
  await saveAnswer(deps.pool, list, JSON.stringify(answer))
  return answer
}

async function openList(pool: Pool, key: ListKey, listId: string): Promise<OpenList> {
  const list = await findList(pool, key, listId)
  if (!list) throw new Problem('list_unknown')
  return list
}

/** Notes the visible records of a range that a list does not name, and that the list goes so far. */
async function noteMissing(
  pool: Pool,
  list: OpenList,
  range: { after: string; to: string | null },
  listed: ReadonlySet<string>,
): Promise<void> {
  await deleteMissing(pool, list, range)
  for (let after = range.after; ; ) {
    const visible = await listVisibleRange(pool, list, { after, to: range.to }, comparedMax)
    const missing = visible.filter((sourceId) => !listed.has(sourceId))
    await addMissing(pool, list, missing)
    after = visible.at(-1) ?? after
    if (visible.length < comparedMax) break
  }
  if (range.to !== null) await saveCovered(pool, list, range.to)
}

/** Whether a text comes before another in the order of their bytes, which is the database's. */
export function isBefore(one: string, other: string): boolean {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0
}
