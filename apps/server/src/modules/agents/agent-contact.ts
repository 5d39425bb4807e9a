import type { Queryable } from '../../platform/database/queryable.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'
import type { AgentPrincipal } from './agent-key.ts'

export type AgentContacts = {
  /** Notes that the agent was heard just now, and the version that it says; null: it says none. */
  readonly touchAgent: (agent: AgentPrincipal, version: string | null) => Promise<void>
}

/** How much older than the truth a last contact may be: an agent sends several requests a second while it uploads. */
const everyMs = 10_000

/** Keeps each agent's last contact, writing it at most once in 10 s per agent and process. */
export function createAgentContacts(deps: { pool: Queryable; now: () => Date }): AgentContacts {
  const notedAtMs = new Map<AgentId, number>()
  return {
    touchAgent: async ({ agentId }, version) => {
      const nowMs = deps.now().getTime()
      const beforeMs = notedAtMs.get(agentId)
      if (beforeMs !== undefined && Math.abs(nowMs - beforeMs) < everyMs) return
      notedAtMs.set(agentId, nowMs)
      try {
        await deps.pool.query(
          `with updated as (update agent set version = $2 where id = $1 and version is distinct from coalesce($2, version))
           insert into agent_contact (agent_id, last_contact_at)
           values ($1, clock_timestamp())
               on conflict (agent_id) do update set last_contact_at = excluded.last_contact_at`,
          [agentId, version],
        )
      } catch (error) {
        notedAtMs.delete(agentId)
        throw error
      }
    },
  }
}

/** The version in the User-Agent of an agent's request; null in any other. */
export function agentVersionOf(userAgent: string | undefined): string | null {
  return /^bridgework-agent\/([\w.+-]{1,40})$/.exec(userAgent ?? '')?.[1] ?? null
}

/** When an organization's agents were last heard: of all organizations at once, read at most every 10 s and only when asked. */
export function createLastContacts(deps: {
  pool: Queryable
  now: () => Date
}): (organizationId: OrganizationId) => Promise<Date | null> {
  let contacts: Promise<Map<OrganizationId, Date>> | null = null
  let readAtMs = 0
  const read = async () => {
    const { rows } = await deps.pool.query<{ organization_id: OrganizationId; last_contact_at: Date }>(
      `select a.organization_id, max(c.last_contact_at) as last_contact_at
         from agent a join agent_contact c on c.agent_id = a.id
        where a.revoked_at is null
        group by a.organization_id`,
    )
    return new Map(rows.map((row) => [row.organization_id, row.last_contact_at]))
  }
  return async (organizationId) => {
    const nowMs = deps.now().getTime()
    if (contacts === null || Math.abs(nowMs - readAtMs) > everyMs) {
      readAtMs = nowMs
      const reading = read()
      contacts = reading
      reading.catch(() => {
        if (contacts === reading) contacts = null
      })
    }
    return (await contacts).get(organizationId) ?? null
  }
}
