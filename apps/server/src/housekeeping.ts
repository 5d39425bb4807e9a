import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { deleteOldMinutes } from './modules/activity/service-minute.ts'
import { deleteOldHours } from './modules/activity/store.ts'
import { deleteOldSightings } from './modules/attribution/store.ts'
import { endExpiredGrants } from './modules/consent/grant.ts'
import { deleteOldSyncActivity } from './modules/datasets/sync-activity.ts'
import { recheckDomains } from './modules/directory/domain.ts'
import type { ProofAccess } from './modules/directory/domain-proof.ts'
import { makeDisclosureMonths } from './modules/disclosure/months.ts'
import { finishErasing } from './modules/leaving/erase.ts'
import { deleteOldMails } from './modules/mail/queue.ts'
import { deleteOldNotices } from './modules/notices/notice.ts'
import { findForeignReferences, type Position } from './modules/records/foreign-reference.ts'
import { dropBrokenLists } from './modules/records/removal-store.ts'
import { deleteOldUploads } from './modules/records/upload-store.ts'
import { deleteOldSignIns } from './modules/sign-in/store.ts'
import { trimRequests } from './modules/usage/request-log.ts'
import { trimUsage } from './modules/usage/store.ts'
import { databaseErrorCode } from './platform/database/unavailable.ts'
import type { LocationId } from './platform/identity/identity.ts'
import type { Log } from './platform/log/log-event.ts'

const everyMs = 10 * 60_000
const uploadsKeptMs = 7 * 24 * 60 * 60_000

/** Records whose references are looked at each time: about a second's work, and a few million records a day. */
const recordsLookedAt = 20_000

/**
 * Forgets, from time to time, what is kept for a while only, and looks whether any record shows what is not of its location. Several
 * processes may do it at once. Returns what stops it.
 */
export function startHousekeeping(deps: { pool: Pool; log: Log; proofAccess: ProofAccess }): () => Promise<void> {
  let running = Promise.resolve()
  let position = randomPosition()
  const attempt = async (task: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      deps.log({ event: 'task.failed', task, error: databaseErrorCode(error) })
    }
  }
  const run = async () => {
    await attempt('housekeeping', async () => {
      await dropBrokenLists(deps.pool)
      await deleteOldUploads(deps.pool, new Date(Date.now() - uploadsKeptMs))
      await deleteOldSightings(deps.pool)
      await deleteOldSyncActivity(deps.pool)
      await deleteOldHours(deps.pool)
      await deleteOldMinutes(deps.pool)
      await trimUsage(deps.pool, new Date())
      await trimRequests(deps.pool, new Date())
      await deleteOldSignIns(deps.pool)
      await deleteOldMails(deps.pool)
      await deleteOldNotices(deps.pool, new Date())
    })
    await attempt('months of disclosures', async () => void (await makeDisclosureMonths(deps.pool)))
    await attempt('finish erasing', () => finishErasing(deps.pool))
    await attempt('ended grants', () => endExpiredGrants(deps.pool))
    await attempt('websites of companies', () =>
      recheckDomains({ pool: deps.pool, access: deps.proofAccess, now: () => new Date() }),
    )
    await attempt('foreign references', async () => {
      position = await findForeignReferences(deps, position, recordsLookedAt)
    })
  }
  const timer = setInterval(() => {
    running = run()
  }, everyMs)
  return async () => {
    clearInterval(timer)
    await running
  }
}

/** Anywhere: a server that is often started again would otherwise look at the same records each time. Ids of locations are below 2^53. */
function randomPosition(): Position {
  const locationId = String(Math.floor(Math.random() * 2 ** 53)) as LocationId
  return { locationId, dataset: datasetNames.at(-1) as DatasetName, afterId: '0' }
}
