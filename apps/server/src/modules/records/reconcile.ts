import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { startRemoval } from './removal.ts'

/**
 * Hides what a finished read no longer found, as `startRemoval` does. `remaining`: records of a large removal that are still to be hidden.
 * Throws Problem removal_held when a person must confirm it first.
 */
export async function reconcile(
  deps: { pool: Pool; now: () => Date; log: Log },
  list: {
    locationId: LocationId
    dataset: DatasetName
    agentId: AgentId
    /** The number that the agent's next upload had when it began to read the list. */
    beganAtUpload: string
    sourceIds: readonly string[]
  },
): Promise<{ hidden: number; remaining?: number }> {
  const { locationId, dataset, agentId, beganAtUpload } = list
  const listed = new Set(list.sourceIds)
  const start = await startRemoval(deps, {
    locationId,
    dataset,
    reading: { agentId, beganAtUpload },
    unlisted: (sourceIds) => sourceIds.filter((sourceId) => !listed.has(sourceId)),
  })
  if (start.state === 'done') return { hidden: start.hidden }
  if (start.state === 'running') return { hidden: 0, remaining: start.remaining }
  const { missing, visible } = start
  throw new Problem('removal_held', { members: { missing, visible } })
}
