import { deleteOldAgentHours, deleteOldLocationHours } from '@bridgework/server/src/modules/activity/store.ts'
import { deleteOldSightings } from '@bridgework/server/src/modules/attribution/store.ts'
import { endExpiredGrants } from '@bridgework/server/src/modules/consent/grant.ts'
import { deleteOldSyncActivity } from '@bridgework/server/src/modules/datasets/sync-activity.ts'
import { finishErasing } from '@bridgework/server/src/modules/leaving/erase.ts'
import { deleteOldNotices } from '@bridgework/server/src/modules/notices/notice.ts'
import {
  countThrottled,
  findBacklog,
  listHeldRemovals,
  listNewAgents,
  listSilentAgents,
  listTroubledAgents,
  listUnreadDatasets,
} from '@bridgework/server/src/modules/overview/watched.ts'
import { dropBrokenLists, findRemovalWork } from '@bridgework/server/src/modules/records/removals/removal-store.ts'
import { measureDue, searchUnpacked, takeDue } from '@bridgework/server/src/modules/records/segments/segment-due.ts'
import { deleteOldUploads } from '@bridgework/server/src/modules/records/write/upload-store.ts'
import type { AgentId, LocationId } from '@bridgework/server/src/platform/identity/identity.ts'
import { filledFrom } from '@bridgework/server/src/testing/test-practices.ts'
import type pg from 'pg'

/** Each statement that a server runs without being asked and that has to do with practices, by what it is for. Of slices one, as large as they are. */
export function workOf(pool: pg.Pool): Record<string, () => Promise<unknown>> {
  const ids = Array.from({ length: 1_000 }, (_, index) => String(filledFrom + index))
  const [locations, agents] = [ids as LocationId[], ids as AgentId[]]
  const hourAgo = () => new Date(Date.now() - 3_600_000)
  return {
    'segments that are due, each second': () => takeDue(pool, { checkMs: 15_000, staleMs: 15_000 }),
    'segments that were lost, each second': () => searchUnpacked(pool, 250),
    'segments that wait, for the metrics': () => measureDue(pool),
    'removals that are due, each second': () => findRemovalWork(pool, '0' as LocationId),
    'agents that are silent, a slice': () => listSilentAgents(pool, agents, hourAgo()),
    'datasets that are not read, a slice': () => listUnreadDatasets(pool, locations, hourAgo()),
    'agents that are new': () => listNewAgents(pool, hourAgo()),
    'agents with problems': () => listTroubledAgents(pool, hourAgo()),
    'removals that are held': () => listHeldRemovals(pool),
    'requests that were throttled': () => countThrottled(pool, hourAgo()),
    'work that waits': () => findBacklog(pool, hourAgo()),
    'old uploads, a slice': () => deleteOldUploads(pool, locations, new Date(0)),
    'old reads, a slice': () => deleteOldSyncActivity(pool, locations),
    'old hours of locations, a slice': () => deleteOldLocationHours(pool, locations),
    'old hours of agents, a slice': () => deleteOldAgentHours(pool, agents),
    'old sightings, a slice': () => deleteOldSightings(pool, locations),
    'old notices': () => deleteOldNotices(pool, new Date()),
    'broken lists': () => dropBrokenLists(pool),
    'grants that ended': () => endExpiredGrants(pool),
    'erasing that was begun': () => finishErasing(pool),
  }
}
