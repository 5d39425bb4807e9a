import type { Pool } from 'pg'
import { askTogether } from '../../platform/database/hot/together.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'
import type { AgentPrincipal } from './agent-key.ts'

export type AgentContacts = {
  /** Notes that the agent was heard just now, and the version that it says; null: it says none. */
  readonly touchAgent: (agent: AgentPrincipal, version: string | null) => Promise<void>
}

/** How much older than the truth a last contact may be: an agent sends several requests a second while it uploads. */
const everyMs = 10_000

/** Agents, each some hundred bytes. One that was forgotten costs a statement more. */
const notedMax = 50_000

/** Keeps each agent's last contact, writing it at most once in 10 s per agent and process. */
export function createAgentContacts(deps: { pool: Queryable; now: () => Date }): AgentContacts {
  const notedAtMs = new BoundedMap<AgentId, number>(notedMax)
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

/**
 * When an organization's agents were last heard: read when asked, for those who ask together in one statement, and at most every 10 s for each.
 */
export function createLastContacts(deps: {
  pool: Pool
  now: () => Date
}): (organizationId: OrganizationId) => Promise<Date | null> {
  const read = askTogether<OrganizationId, Date | null>(async (pool, organizationIds) => {
    const contacts = await readLastContacts(pool, organizationIds)
    return organizationIds.map((id) => contacts.get(id) ?? null)
  })
  const known = new BoundedMap<OrganizationId, { contact: Promise<Date | null>; readAtMs: number }>(knownMax)
  return (organizationId) => {
    const nowMs = deps.now().getTime()
    const before = known.get(organizationId)
    if (before && Math.abs(nowMs - before.readAtMs) <= everyMs) return before.contact
    const contact = read(deps.pool, organizationId)
    known.set(organizationId, { contact, readAtMs: nowMs })
    contact.catch(() => known.delete(organizationId))
    return contact
  }
}

/** When the agents of these organizations were last heard; one that never was is not in it. By agent_of_organization. */
export async function readLastContacts(
  db: Queryable,
  organizationIds: readonly OrganizationId[],
): Promise<Map<OrganizationId, Date>> {
  const { rows } = await db.query<{ organization_id: OrganizationId; last_contact_at: Date }>(
    `select a.organization_id, max(c.last_contact_at) as last_contact_at
       from agent a join agent_contact c on c.agent_id = a.id
      where a.organization_id = any($1::bigint[]) and a.revoked_at is null
      group by a.organization_id`,
    [organizationIds],
  )
  return new Map(rows.map((row) => [row.organization_id, row.last_contact_at]))
}

/** Organizations, each some two hundred bytes. */
const knownMax = 10_000
