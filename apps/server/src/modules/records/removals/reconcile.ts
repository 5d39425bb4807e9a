import type { Pool } from 'pg'
import { Problem } from '../../../platform/errors/problem.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import type { ListKey } from './complete-list-store.ts'
import type { Reading } from './missing-records.ts'
import { type CompleteList, startRemoval } from './removal.ts'

/**
 * Hides what a finished read no longer found, as `startRemoval` does. `beganAtUpload`: the number that the agent's next upload had when it began
 * to read the list. `remaining`: records of a large removal that are still to be hidden. Throws Problem removal_held when a person must
 * confirm it first.
 */
export async function reconcile(
  deps: { pool: Pool; now: () => Date; log: Log },
  { agentId, fence, beganAtUpload, ...list }: ListKey & Pick<CompleteList, 'unlisted'> & Omit<Reading, 'agentId'>,
): Promise<{ hidden: number; remaining?: number }> {
  const start = await startRemoval(deps, { ...list, reading: { agentId, fence, beganAtUpload } })
  if (start.state === 'done') return { hidden: start.hidden }
  if (start.state === 'running') return { hidden: 0, remaining: start.remaining }
  const { missing, visible } = start
  throw new Problem('removal_held', { members: { missing, visible } })
}
