import { isUploadNumber, uploadNumberJumpMax } from '@bridgework/contract/ingest'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId } from '../../platform/identity/identity.ts'

/** The highest number that an upload of this agent ever had, over all locations and datasets; null before the first. */
export async function highestNumber(db: Queryable, agentId: AgentId): Promise<string | null> {
  const { rows } = await db.query<{ highest: string }>('select highest from agent_number where agent_id = $1', [
    agentId,
  ])
  return rows[0]?.highest ?? null
}

/** Notes that an upload of this agent has this number. Uploads of one agent wait for each other from here to the end of the transaction. */
export async function noteNumber(client: Queryable, agentId: AgentId, number: string): Promise<void> {
  await client.query(
    `insert into agent_number (agent_id, highest)
     values ($1, $2)
         on conflict (agent_id) do update set highest = greatest(agent_number.highest, excluded.highest)`,
    [agentId, number],
  )
}

/**
 * Throws for a number that is so far above the agent's highest that none would be left after it: one mistaken number must not be the agent's last.
 * Ordinary numbers cost no statement.
 */
export async function requireReachable(client: Queryable, agentId: AgentId, number: string): Promise<void> {
  if (Number(number) <= uploadNumberJumpMax) return
  const highest = await highestNumber(client, agentId)
  if (!isUploadNumber(Number(number), highest === null ? null : Number(highest))) throw numberTooHigh()
}

export function numberTooHigh(): Problem {
  return new Problem('idempotency_key_invalid', {
    errors: 'The number of this upload is too high. Number uploads from highest_number + 1.',
  })
}
