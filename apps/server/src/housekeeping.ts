import type { Pool } from 'pg'
import { deleteOldSightings } from './attribution/store.ts'
import type { Log } from './http/log-event.ts'
import { deleteOldSyncActivity } from './records/sync-activity.ts'
import { deleteOldUploads } from './records/upload-store.ts'
import { deleteOldSignIns } from './sign-in/store.ts'
import { trimUsage } from './usage/store.ts'

const everyMs = 10 * 60_000
const uploadsKeptMs = 7 * 24 * 60 * 60_000

/** Forgets, from time to time, what is kept for a while only. Several processes may do it at once. Returns what stops it. */
export function startHousekeeping(deps: { pool: Pool; log: Log }): () => Promise<void> {
  let running = Promise.resolve()
  const run = async () => {
    try {
      await deleteOldUploads(deps.pool, new Date(Date.now() - uploadsKeptMs))
      await deleteOldSightings(deps.pool)
      await deleteOldSyncActivity(deps.pool)
      await trimUsage(deps.pool, new Date())
      await deleteOldSignIns(deps.pool)
    } catch (error) {
      deps.log({
        event: 'task.failed',
        task: 'housekeeping',
        error: (error as { code?: string }).code ?? (error as Error).name,
      })
    }
  }
  const timer = setInterval(() => {
    running = run()
  }, everyMs)
  return async () => {
    clearInterval(timer)
    await running
  }
}
