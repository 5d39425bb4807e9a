import type { AgentId } from '../directory/identity.ts'
import type { Queryable } from '../directory/queryable.ts'
import type { AgentPrincipal } from './agent-key.ts'

export type AgentContacts = {
  /** Notes that the agent was heard just now. */
  readonly touchAgent: (agent: AgentPrincipal) => Promise<void>
}

/** How much older than the truth a last contact may be: an agent sends several requests a second while it uploads. */
const everyMs = 10_000

/** Keeps each agent's last contact, writing it at most once in 10 s per agent and process. */
export function createAgentContacts(deps: { pool: Queryable; now: () => Date }): AgentContacts {
  const notedAtMs = new Map<AgentId, number>()
  return {
    touchAgent: async ({ agentId }) => {
      const nowMs = deps.now().getTime()
      const beforeMs = notedAtMs.get(agentId)
      if (beforeMs !== undefined && Math.abs(nowMs - beforeMs) < everyMs) return
      notedAtMs.set(agentId, nowMs)
      try {
        await deps.pool.query(
          `insert into agent_contact (agent_id, last_contact_at)
           values ($1, clock_timestamp())
               on conflict (agent_id) do update set last_contact_at = excluded.last_contact_at`,
          [agentId],
        )
      } catch (error) {
        notedAtMs.delete(agentId)
        throw error
      }
    },
  }
}
