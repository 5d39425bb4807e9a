import type { Pool } from 'pg'
import type { LocationId } from '../../platform/identity/identity.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { attemptWork, createWorker, noLocation, type Worker } from './background-work.ts'
import { rerenderRecords, rerenderSliceMax, showsMoreThanId } from './change.ts'
import {
  deleteReferences,
  findRerenderWork,
  listReferring,
  lockRerenderWork,
  type RerenderWork,
  saveRerenderWork,
} from './reference-store.ts'
import { type Turn, takeTurn } from './turn.ts'

const task = 'rerender'

/** Does the work that a change of a widely embedded record left: slices of 5,000, each its own turn and stamp. */
export function createRerenderer(deps: { pool: Pool; log: Log; pollMs?: number }): Worker {
  return createWorker({ ...deps, task, slice: (after) => rerenderSlice(deps.pool, deps.log, after) })
}

/** One slice of the oldest work of the next location after this one. Returns that location; null when nothing is due anywhere. */
export async function rerenderSlice(pool: Pool, log: Log, after: LocationId = noLocation): Promise<LocationId | null> {
  const work = await findRerenderWork(pool, after)
  if (!work) return null
  const { locationId, targetDataset, targetSourceId, dataset } = work
  const key = [locationId, targetDataset, targetSourceId, dataset]
  await attemptWork({ db: pool, log, task }, 'rerender_work', key, () =>
    takeTurn(pool, locationId, dataset, (turn) => rerenderNext(turn, log, work)),
  )
  return locationId
}

async function rerenderNext(turn: Turn, log: Log, work: RerenderWork): Promise<void> {
  const { locationId, dataset } = work
  // The turn comes before the work's row: an upload that holds the turn may be about to write that row.
  const current = await lockRerenderWork(turn.client, work)
  if (!current) return
  const target = { dataset: work.targetDataset, sourceIds: [work.targetSourceId] }
  const ids = await listReferring(turn.client, locationId, target, dataset, current.afterId, rerenderSliceMax)
  const changed = await rerenderRecords(turn, dataset, ids)
  const next = nextAfter(ids)
  await saveRerenderWork(turn.client, work, next)
  const isDone = next === null && !showsMoreThanId(dataset, work.targetDataset)
  if (isDone) await deleteReferences(turn.client, locationId, target, dataset)
  log({ event: 'records.rerendered', locationId, dataset, changed })
}

function nextAfter(ids: readonly string[]): RerenderWork['afterId'] | null {
  return ids.length < rerenderSliceMax ? null : (ids.at(-1) ?? null)
}
