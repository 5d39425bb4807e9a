import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool } from 'pg'
import { deleteOldMinutes } from './modules/activity/service-minute.ts'
import { deleteOldAgentHours, deleteOldLocationHours } from './modules/activity/store.ts'
import { listAgentIdsAfter } from './modules/agents/agent-key.ts'
import { deleteOldSightings } from './modules/attribution/store.ts'
import { endExpiredGrants } from './modules/consent/grant.ts'
import { deleteOldSyncActivity } from './modules/datasets/sync-activity.ts'
import { recheckDomains } from './modules/directory/domain.ts'
import type { ProofAccess } from './modules/directory/domain-proof.ts'
import { listLocationIdsAfter } from './modules/directory/location.ts'
import { makeDisclosureMonths } from './modules/disclosure/months.ts'
import { finishErasing } from './modules/leaving/erase.ts'
import { deleteOldMails } from './modules/mail/queue.ts'
import { deleteOldNotices } from './modules/notices/notice.ts'
import { dropBrokenLists } from './modules/records/removals/removal-store.ts'
import { findForeignReferences, type Position } from './modules/records/write/foreign-reference.ts'
import { deleteOldUploads } from './modules/records/write/upload-store.ts'
import { deleteOldSignIns } from './modules/sign-in/store.ts'
import { trimRequests } from './modules/usage/request-log.ts'
import { trimUsage } from './modules/usage/store.ts'
import { deleteOldAttempts } from './modules/webhooks/attempt.ts'
import type { AgentId, LocationId } from './platform/identity/identity.ts'
import type { Log } from './platform/log/log-event.ts'
import { inSlices } from './platform/loop/in-slices.ts'
import { createLoop, type Loop } from './platform/loop/loop.ts'

const uploadsKeptMs = 7 * 24 * 60 * 60_000

/** Records whose references are looked at each time: about a second's work, and a few million records a day. */
const recordsLookedAt = 20_000

/**
 * Deletes expired rows, finishes what other work left, and looks whether any record shows what is not of its location. Several processes may do it
 * at once; `when`: which of them does it. What has rows for each location is gone over in slices.
 */
export function createHousekeeping(deps: {
  pool: Pool
  log: Log
  proofAccess: ProofAccess
  everyMs?: number
  when?: () => boolean
}): Loop {
  const { pool, log, proofAccess, everyMs = 10 * 60_000, when = () => true } = deps
  const ofLocations = (work: (ids: readonly LocationId[]) => Promise<unknown>) =>
    inSlices<LocationId>((after, limit) => listLocationIdsAfter(pool, after, limit), work)
  const now = () => new Date()
  let position = randomPosition()
  return createLoop({
    log,
    everyMs,
    when,
    steps: {
      'drop broken lists': () => dropBrokenLists(pool),
      'delete old uploads': ofLocations((ids) => deleteOldUploads(pool, ids, new Date(Date.now() - uploadsKeptMs))),
      'delete old sightings of websites': ofLocations((ids) => deleteOldSightings(pool, ids)),
      'delete old sync activity': ofLocations((ids) => deleteOldSyncActivity(pool, ids)),
      'delete old hours of locations': ofLocations((ids) => deleteOldLocationHours(pool, ids)),
      'delete old hours of agents': inSlices<AgentId>(
        (after, limit) => listAgentIdsAfter(pool, after, limit),
        (ids) => deleteOldAgentHours(pool, ids),
      ),
      'delete old minutes': () => deleteOldMinutes(pool),
      'trim usage': () => trimUsage(pool, now()),
      'trim requests': () => trimRequests(pool, now()),
      'delete old sign-ins': () => deleteOldSignIns(pool),
      'delete old attempts of webhooks': () => deleteOldAttempts(pool),
      'delete old mails': () => deleteOldMails(pool),
      'delete old notices': () => deleteOldNotices(pool, now()),
      'months of disclosures': () => makeDisclosureMonths(pool),
      'finish erasing': () => finishErasing(pool),
      'ended grants': () => endExpiredGrants(pool),
      'websites of companies': () => recheckDomains({ pool, access: proofAccess, now }),
      'foreign references': async () => {
        position = await findForeignReferences(deps, position, recordsLookedAt)
      },
    },
  })
}

/** Anywhere: a server that is often started again would otherwise look at the same records each time. Ids of locations are below 2^53. */
function randomPosition(): Position {
  const locationId = String(Math.floor(Math.random() * 2 ** 53)) as LocationId
  return { locationId, dataset: datasetNames.at(-1) as DatasetName, afterId: '0' }
}
