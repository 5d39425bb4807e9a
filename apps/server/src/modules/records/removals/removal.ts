import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { Problem } from '../../../platform/errors/problem.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { holdWriter } from '../../agents/location-writer.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import { hideRecords } from '../write/change.ts'
import { type Turn, takeTurn } from '../write/turn.ts'
import { beganBefore } from './complete-list-store.ts'
import { findMissing, listVisible, type Reading } from './missing-records.ts'
import { hideMoved } from './moved.ts'
import {
  addToRemoval,
  countKept,
  countListed,
  deleteRemoval,
  dropRemoval,
  findCurrentRemoval,
  finishList,
  hashRemoval,
  hashSourceIds,
  insertRemoval,
  lockRemoval,
  nextSourceIds,
  type Removal,
  saveSlice,
} from './removal-store.ts'

/** What a finished read of a dataset found. */
export type CompleteList = {
  locationId: LocationId
  dataset: DatasetName
  /** Null: nothing was read, because the location has closed. */
  reading: Reading | null
  /** Those of these source ids that the list does not name. Asked for a slice at a time, for some more than once. */
  unlisted: (sourceIds: readonly string[]) => readonly string[] | Promise<readonly string[]>
}

/**
 * `done`: all that was missing is hidden. `running`: it is being hidden, `remaining` records are left. `held`: nothing is hidden, `missing`
 * of `visible` records wait for a person.
 */
export type RemovalStart =
  | { state: 'done'; hidden: number }
  | { state: 'running'; remaining: number }
  | { state: 'held'; missing: number; visible: number }

/** At most this many records are hidden in one turn, with one stamp. A larger removal is carried out in slices of this size. */
export const removalSliceMax = 5_000

/** At most this many records are compared with a list at once. */
const comparedMax = 10_000

/** Held is what would hide all visible records, or more than a fifth of them and at least 10. */
export function mustBeHeld(missing: number, visible: number): boolean {
  return missing > 0 && (missing === visible || (missing >= 10 && missing > visible * 0.2))
}

/**
 * Hides the visible records that a complete list does not name; records received since its reading began are left alone, and of what would be held,
 * those that have only moved to another location of the agent are hidden all the same. Up to 5,000 are hidden at once; more become the remover's work. Too large a removal is held for a person; the next list takes its place, and one that
 * finds less missing ends the wait. Records that a person decided to keep count neither as missing nor as visible. Refuses with `busy` while an earlier removal of the dataset runs that does not cover what is missing.
 */
export async function startRemoval(
  deps: { pool: Pool; now: () => Date; log: Log },
  list: CompleteList,
): Promise<RemovalStart> {
  const start = await decide(deps, list)
  const moved = start.state === 'held' ? await hideMoved(deps.pool, list, list.reading?.beganAtUpload ?? null) : 0
  if (moved === 0) return start
  const rest = await decide(deps, list)
  return rest.state === 'done' ? { ...rest, hidden: rest.hidden + moved } : rest
}

async function decide(deps: { pool: Pool; now: () => Date; log: Log }, list: CompleteList): Promise<RemovalStart> {
  const slices: (readonly string[])[] = []
  let unlistedCount = 0
  for await (const unlisted of unlistedSlices(deps.pool, list)) {
    slices.push(unlisted)
    unlistedCount += unlisted.length
    if (unlistedCount > removalSliceMax) return startLarge(deps, list)
  }
  return takeListTurn(deps.pool, list, async (turn) => {
    const missing: string[] = []
    for (const slice of slices) missing.push(...(await findMissing(turn.client, list, list.reading, slice)))
    const current = await findCurrentRemoval(turn.client, list)
    if (current?.state === 'running') {
      const listed = await countListed(turn.client, list, current.id, missing)
      return runningOn(current, listed === missing.length)
    }
    const visible = await visibleOf(turn, list)
    const listHash = await hashSourceIds(turn.client, missing)
    if (!mustBeHeld(missing.length, visible)) {
      if (current) await endHold(turn, current)
      return { state: 'done', hidden: await hideRecords(turn, list.dataset, missing) }
    }
    if (current?.listHash !== listHash) {
      const id = await insertRemoval(turn.client, list)
      await addToRemoval(turn.client, list, id, missing)
      const listed = { ...list, id, remaining: missing.length }
      const heldAt = current?.heldAt ?? deps.now()
      await replace(turn, deps.log, current, listed, { state: 'held', listHash, visible, heldAt })
    }
    return { state: 'held', missing: missing.length, visible }
  })
}

/** More is missing than one turn hides: the list is written slice by slice, and decided about when it is whole. */
async function startLarge(deps: { pool: Pool; now: () => Date; log: Log }, list: CompleteList): Promise<RemovalStart> {
  const { pool, now, log } = deps
  const current = await findCurrentRemoval(pool, list)
  if (current) {
    const { isCovered, isSame } = await compare(pool, list, current)
    if (current.state === 'running') return runningOn(current, isCovered)
    // What waits for a person is asked about again at each cycle: nothing is written for the same list.
    if (isSame) return { state: 'held', missing: current.remaining, visible: current.visible }
  }
  const id = await insertRemoval(pool, list)
  try {
    for await (const unlisted of unlistedSlices(pool, list)) {
      await takeListTurn(pool, list, async ({ client }) => {
        await addToRemoval(client, list, id, await findMissing(client, list, list.reading, unlisted))
      })
    }
    return await takeListTurn(pool, list, async (turn) => {
      const before = await findCurrentRemoval(turn.client, list)
      if (before?.state === 'running') throw stillRunning(before)
      const visible = await visibleOf(turn, list)
      const listHash = await hashRemoval(turn.client, list, id)
      const listed = await lockRemoval(turn.client, { ...list, id, state: 'listing' })
      if (!listed) throw new Problem('busy', { because: 'the location was opened again', retryAfterSeconds: 5 })
      const { remaining } = listed
      if (remaining === 0) {
        await dropRemoval(turn.client, listed)
        if (before) await endHold(turn, before)
        return { state: 'done', hidden: 0 }
      }
      const state = mustBeHeld(remaining, visible) ? 'held' : 'running'
      const heldAt = (state === 'held' && before?.heldAt) || now()
      await replace(turn, log, before, listed, { state, listHash, visible, heldAt })
      return state === 'held' ? { state, missing: remaining, visible } : { state, remaining }
    })
  } catch (error) {
    await dropRemoval(pool, { ...list, id })
    throw error
  }
}

/** The number of visible records, without those that a person decided to keep. */
async function visibleOf(turn: Turn, list: CompleteList): Promise<number> {
  return turn.state(list.dataset).visible - (await countKept(turn.client, list))
}

/** A turn in which a list is decided about: its agent must still be the location's writer, as it was when the list began. */
function takeListTurn<T>(pool: Pool, list: CompleteList, work: (turn: Turn) => Promise<T>): Promise<T> {
  const { locationId, dataset, reading } = list
  return takeTurn(pool, locationId, dataset, async (turn) => {
    if (reading && !(await holdWriter(turn.client, { locationId, ...reading }, reading.beganAtUpload)))
      throw beganBefore()
    return work(turn)
  })
}

/** The visible records that the list does not name, in slices; most of them have none. */
async function* unlistedSlices(pool: Pool, list: CompleteList): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const visible = await listVisible(pool, list, after, comparedMax)
    const unlisted = visible.length === 0 ? [] : await list.unlisted(visible)
    if (unlisted.length > 0) yield unlisted
    if (visible.length < comparedMax) return
    after = visible.at(-1) ?? after
  }
}

/** Whether all that is missing is on the list of a removal, and whether nothing else is. */
async function compare(
  pool: Pool,
  list: CompleteList,
  removal: Removal,
): Promise<{ isCovered: boolean; isSame: boolean }> {
  let missing = 0
  let listed = 0
  for await (const unlisted of unlistedSlices(pool, list)) {
    const found = await findMissing(pool, list, list.reading, unlisted)
    missing += found.length
    listed += await countListed(pool, list, removal.id, found)
  }
  return { isCovered: listed === missing, isSame: listed === missing && listed === removal.remaining }
}

/**
 * What waited for a person does not any more. That draws a stamp, as its beginning does: vendors see in /changes what waits, and a row comes with the
 * stamp of its dataset.
 */
async function endHold(turn: Turn, held: Removal): Promise<void> {
  await dropRemoval(turn.client, held)
  turn.stamp(held.dataset)
}

/** The list takes the place of the one before it, which was held. */
async function replace(
  turn: Turn,
  log: Log,
  before: Removal | null,
  listed: DatasetKey & { id: string; remaining: number },
  end: Parameters<typeof finishList>[2],
): Promise<void> {
  if (before) await endHold(turn, before)
  await finishList(turn.client, listed, end)
  if (end.state === 'held') turn.stamp(listed.dataset)
  const { locationId, dataset, remaining } = listed
  const event = end.state === 'held' ? 'removal.held' : 'removal.started'
  log({ event, locationId, dataset, missing: remaining, visible: end.visible })
}

function runningOn(removal: Removal, isCovered: boolean): RemovalStart {
  if (!isCovered) throw stillRunning(removal)
  return { state: 'running', remaining: removal.remaining }
}

/** The agent is to send its list again when the removal is done. A slice takes about a second. */
function stillRunning({ remaining }: Removal): Problem {
  const retryAfterSeconds = Math.min(60, 5 + Math.ceil(remaining / removalSliceMax))
  return new Problem('busy', {
    errors: 'An earlier removal of this dataset is still running. Send the list again when it is done.',
    retryAfterSeconds,
  })
}

/** Hides the next records of a removal in this turn, and ends it after the last ones. */
export async function hideSlice(
  turn: Turn,
  removal: Removal,
  max = removalSliceMax,
): Promise<{ hidden: number; remaining: number }> {
  const sourceIds = await nextSourceIds(turn.client, removal, max)
  const hidden = await hideRecords(turn, removal.dataset, sourceIds)
  await saveSlice(turn.client, removal, { sourceIds, hidden })
  const remaining = sourceIds.length < max ? 0 : removal.remaining - sourceIds.length
  if (remaining === 0) await deleteRemoval(turn.client, removal)
  return { hidden, remaining }
}
