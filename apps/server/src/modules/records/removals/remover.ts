import type { Pool } from 'pg'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { attemptWork, createWorker, noLocation, type Worker } from '../write/background-work.ts'
import { takeTurn } from '../write/turn.ts'
import { hideSlice, removalSliceMax, startRemoval } from './removal.ts'
import {
  deleteListed,
  deleteRemoval,
  findRemovalWork,
  lockRemoval,
  nextSourceIds,
  type Removal,
} from './removal-store.ts'

const task = 'removal'

/** Carries out removals in slices of 5,000, each its own turn and stamp, lists the records of closed locations, and deletes dropped lists. */
export function createRemover(deps: { pool: Pool; log: Log; now: () => Date; pollMs?: number }): Worker {
  return createWorker({ ...deps, task, slice: (after) => removeSlice(deps, after) })
}

/** One slice of a removal of the next location after this one. Returns that location; null when nothing is due anywhere. */
export async function removeSlice(
  deps: { pool: Pool; log: Log; now: () => Date },
  after: LocationId = noLocation,
): Promise<LocationId | null> {
  const { pool, log } = deps
  const removal = await findRemovalWork(pool, after)
  if (!removal) return null
  const { locationId, dataset, id } = removal
  await attemptWork({ db: pool, log, task }, 'removal', [locationId, dataset, id], async () => {
    if (removal.state === 'requested') await listClosed(deps, removal)
    else if (removal.state === 'dropped') await deleteDropped(pool, removal)
    else {
      await takeTurn(pool, locationId, dataset, async (turn) => {
        const current = await lockRemoval(turn.client, removal)
        if (current) log({ event: 'records.removed', locationId, dataset, ...(await hideSlice(turn, current)) })
      })
    }
  })
  return locationId
}

/** An empty complete list goes out for a location that has closed: everything is missing, so it is held for a person. */
async function listClosed(deps: { pool: Pool; log: Log; now: () => Date }, removal: Removal): Promise<void> {
  const { locationId, dataset } = removal
  await startRemoval(deps, { locationId, dataset, reading: null, unlisted: (sourceIds) => sourceIds })
  await deleteRemoval(deps.pool, removal)
}

async function deleteDropped(pool: Pool, removal: Removal): Promise<void> {
  const sourceIds = await nextSourceIds(pool, removal, removalSliceMax)
  await deleteListed(pool, removal, sourceIds)
  if (sourceIds.length < removalSliceMax) await deleteRemoval(pool, removal)
}
