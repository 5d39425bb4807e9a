import type { Pool } from 'pg'
import type { Log } from '../../platform/log/log-event.ts'
import { rerenderRecords, rerenderSliceMax, showsMoreThanId } from './change.ts'
import {
  deleteReferences,
  findRerenderWork,
  listReferring,
  lockRerenderWork,
  type RerenderWork,
  saveRerenderWork,
} from './reference-store.ts'
import { takeTurn } from './turn.ts'

export type Rerenderer = { start: () => void; stop: () => Promise<void> }

/**
 * Does the work that a change of a widely embedded record left: slices of 5,000, each its own turn and stamp. Looks for work every
 * `pollMs`, whoever left it, so that a crash only delays it. Several processes may look at once: each slice is taken under the turn's lock.
 */
export function createRerenderer(deps: { pool: Pool; log: Log; pollMs?: number }): Rerenderer {
  const { pool, log, pollMs = 1000 } = deps
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false
  const run = async () => {
    try {
      while (!isStopped && (await rerenderSlice(pool, log))) {}
    } catch (error) {
      log({ event: 'task.failed', task: 'rerender', error: (error as { code?: string }).code ?? (error as Error).name })
    }
    if (!isStopped) timer = setTimeout(start, pollMs)
  }
  const start = () => {
    running = run()
  }
  return {
    start,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** One slice of the oldest work; false when there is none. */
export async function rerenderSlice(pool: Pool, log: Log): Promise<boolean> {
  const work = await findRerenderWork(pool)
  if (!work) return false
  await takeTurn(pool, work.locationId, work.dataset, async (turn) => {
    // The turn comes before the work's row: an upload that holds the turn may be about to write that row.
    const current = await lockRerenderWork(turn.client, work)
    if (!current) return
    const target = { dataset: work.targetDataset, sourceIds: [work.targetSourceId] }
    const ids = await listReferring(
      turn.client,
      work.locationId,
      target,
      work.dataset,
      current.afterId,
      rerenderSliceMax,
    )
    const changed = await rerenderRecords(turn, work.dataset, ids)
    const next = nextAfter(ids)
    await saveRerenderWork(turn.client, work, next)
    const isDone = next === null && !showsMoreThanId(work.dataset, work.targetDataset)
    if (isDone) await deleteReferences(turn.client, work.locationId, target, work.dataset)
    log({ event: 'records.rerendered', locationId: work.locationId, dataset: work.dataset, changed })
  })
  return true
}

function nextAfter(ids: readonly string[]): RerenderWork['afterId'] | null {
  return ids.length < rerenderSliceMax ? null : (ids.at(-1) ?? null)
}
