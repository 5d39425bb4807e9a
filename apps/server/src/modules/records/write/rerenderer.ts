import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { saveRendering } from '../../datasets/dataset-state.ts'
import { attemptWork, createWorker, noLocation, type Worker } from './background-work.ts'
import { rerenderRecords, rerenderSliceMax, showsMoreThanId } from './change.ts'
import {
  deleteReferences,
  deleteRerenderWork,
  everyRecord,
  findRerenderWork,
  listReferring,
  listReferringUpTo,
  lockRerenderWork,
  type RerenderTarget,
  type RerenderWork,
  saveRerenderWork,
} from './reference-store.ts'
import { forgetAllSegments } from './segment-state.ts'
import { type Turn, takeTurn } from './turn.ts'
import { listIdsAfter } from './write-store.ts'

const task = 'rerender'

/** Does the work that changes of embedded records and new renderings left: slices of 5,000 records, each its own turn and stamp. */
export function createRerenderer(deps: { pool: Pool; log: Log; pollMs?: number }): Worker {
  return createWorker({ ...deps, task, slice: (after) => rerenderSlice(deps.pool, deps.log, after) })
}

/**
 * One slice of the oldest work of the next location after this one: a part of one target's records, or all of those of many targets. Returns that
 * location; null when nothing is due anywhere.
 */
export async function rerenderSlice(pool: Pool, log: Log, after: LocationId = noLocation): Promise<LocationId | null> {
  const found = await findRerenderWork(pool, after, rerenderSliceMax)
  if (!found) return null
  const { work, sourceIds } = found
  const { locationId, targetDataset, dataset } = work
  await attemptWork({ db: pool, log, task }, 'rerender_work', [locationId, targetDataset, sourceIds, dataset], () =>
    takeTurn(pool, locationId, dataset, (turn) => rerenderNext(turn, log, work, sourceIds)),
  )
  return locationId
}

async function rerenderNext(turn: Turn, log: Log, work: RerenderWork, sourceIds: readonly string[]): Promise<void> {
  const { locationId, dataset } = work
  // The turn comes before the work's rows: an upload that holds the turn may be about to write those rows.
  const targets = await lockRerenderWork(turn.client, work, sourceIds)
  const first = targets.find(({ sourceId }) => sourceId === sourceIds[0]) ?? targets[0]
  if (!first) return
  const { targetDataset } = work
  if (targetDataset === everyRecord) {
    const changed = await rerenderAll(turn, work, first)
    return log({ event: 'records.rerendered', locationId, dataset, changed })
  }
  const others = targets.filter(({ sourceId, afterId }) => sourceId !== first.sourceId && afterId === '0')
  const named = { ...work, targetDataset }
  const many = first.afterId === '0' ? await listMany(turn, named, [first, ...others]) : null
  const changed = many ? await rerenderMany(turn, named, many) : await rerenderPart(turn, named, first)
  log({ event: 'records.rerendered', locationId, dataset, changed })
}

/** The next records of the dataset, of which all are to be rendered. At the end they all have its rendering, and no segment has an earlier one. */
async function rerenderAll(turn: Turn, work: RerenderWork, { sourceId, afterId }: RerenderTarget): Promise<number> {
  const { client, locationId } = turn
  const { dataset } = work
  const ids = await listIdsAfter(client, locationId, dataset, afterId, rerenderSliceMax)
  const changed = await rerenderRecords(turn, dataset, ids)
  const last = ids.length < rerenderSliceMax ? undefined : ids.at(-1)
  if (last === undefined) {
    await deleteRerenderWork(client, work, [sourceId])
    await saveRendering(client, locationId, dataset)
    await forgetAllSegments(client, { locationId, dataset })
  } else await saveRerenderWork(client, work, { sourceId, afterId: last })
  return changed
}

/** Work for the records that refer to targets. */
type ReferringWork = RerenderWork & { targetDataset: DatasetName }

type ManyTargets = { sourceIds: readonly string[]; ids: readonly string[] }

/** As many of the targets, from the first on, as one slice can do, with the ids of what refers to them; null: not even all of the first one's. */
async function listMany(
  turn: Turn,
  work: ReferringWork,
  targets: readonly RerenderTarget[],
): Promise<ManyTargets | null> {
  const all = targets.map(({ sourceId }) => sourceId)
  for (let count = all.length; count >= 1; count = Math.floor(count / 2)) {
    const sourceIds = all.slice(0, count)
    const ids = await listReferringUpTo(turn.client, work, sourceIds, rerenderSliceMax)
    if (ids) return { sourceIds, ids }
  }
  return null
}

async function rerenderMany(turn: Turn, work: ReferringWork, { sourceIds, ids }: ManyTargets): Promise<number> {
  const changed = await rerenderRecords(turn, work.dataset, ids)
  await finish(turn, work, sourceIds)
  return changed
}

/** The next records of one target that many refer to. */
async function rerenderPart(turn: Turn, work: ReferringWork, { sourceId, afterId }: RerenderTarget): Promise<number> {
  const { locationId, targetDataset, dataset } = work
  const target = { dataset: targetDataset, sourceIds: [sourceId] }
  const ids = await listReferring(turn.client, locationId, target, dataset, afterId, rerenderSliceMax)
  const changed = await rerenderRecords(turn, dataset, ids)
  const last = ids.length < rerenderSliceMax ? undefined : ids.at(-1)
  if (last === undefined) await finish(turn, work, [sourceId])
  else await saveRerenderWork(turn.client, work, { sourceId, afterId: last })
  return changed
}

async function finish(turn: Turn, work: ReferringWork, sourceIds: readonly string[]): Promise<void> {
  const { locationId, targetDataset, dataset } = work
  await deleteRerenderWork(turn.client, work, sourceIds)
  if (showsMoreThanId(dataset, targetDataset)) return
  await deleteReferences(turn.client, locationId, { dataset: targetDataset, sourceIds }, dataset)
}
