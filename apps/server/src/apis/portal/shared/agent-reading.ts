import { getDataset } from '@bridgework/contract'
import type { ReadProgress } from '@bridgework/contract/portal'
import { agentStateOf } from '../../../modules/agents/agent-state.ts'
import { type ListedHeartbeat, listHeartbeats } from '../../../modules/agents/heartbeat.ts'
import type { AgentId } from '../../../platform/identity/identity.ts'
import type { PortalContext } from './context.ts'

/** What each of these agents reads at this moment, as it last said. */
export async function readingsOf(
  { pool, now }: PortalContext,
  agentIds: readonly AgentId[],
): Promise<(agentId: AgentId) => ReadProgress | null> {
  const heartbeats = await listHeartbeats(pool, agentIds)
  return (agentId) => {
    const heartbeat = heartbeats.get(agentId)
    return heartbeat ? readProgress(heartbeat, now()) : null
  }
}

/** The progress that a heartbeat tells; null when nothing is read, or the agent is not heard any more. */
export function readProgress(heartbeat: ListedHeartbeat, now: Date): ReadProgress | null {
  const { readingDataset, heardAt, rowsRead, rowsTotal } = heartbeat
  const isHeard = agentStateOf({ revokedAt: null, lastContactAt: heardAt }, now) === 'connected'
  if (!readingDataset || !isHeard) return null
  return {
    title: getDataset(readingDataset).title,
    rows_read: rowsRead ?? 0,
    rows_total: rowsTotal,
    seconds_left: secondsLeft(heartbeat, now),
  }
}

/** By the speed since the agent was first heard with this reading; less what has passed since it was last heard. */
function secondsLeft(
  { rowsRead, rowsTotal, rowsReadAtFirst, readingSince, heardAt }: ListedHeartbeat,
  now: Date,
): number | null {
  if (rowsRead === null || rowsTotal === null || rowsReadAtFirst === null || readingSince === null) return null
  const rowsPerMs = (rowsRead - rowsReadAtFirst) / (heardAt.getTime() - readingSince.getTime())
  if (!(rowsPerMs > 0)) return null
  const msLeft = Math.max(0, rowsTotal - rowsRead) / rowsPerMs - (now.getTime() - heardAt.getTime())
  return Math.round(Math.max(0, msLeft) / 1000)
}
