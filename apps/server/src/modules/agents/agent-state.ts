import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'

export type AgentState = 'connected' | 'silent' | 'never_heard' | 'revoked'

/** An agent asks every minute or so: one that was not heard for three is off or cut off. */
const silentAfterMs = 3 * 60_000

/** Whether an agent is there now. */
export function agentStateOf(agent: { revokedAt: Date | null; lastContactAt: Date | null }, now: Date): AgentState {
  if (agent.revokedAt !== null) return 'revoked'
  if (agent.lastContactAt === null) return 'never_heard'
  return now.getTime() - agent.lastContactAt.getTime() <= silentAfterMs ? 'connected' : 'silent'
}

/** How many living agents there are of each state, over all organizations. */
export async function countAgents(
  db: Queryable,
  now: Date,
): Promise<{ connected: number; silent: number; never_heard: number }> {
  const { rows } = await db.query<{ last_contact_at: Date | null }>(
    `select c.last_contact_at
       from agent a
       left join agent_contact c on c.agent_id = a.id
      where a.revoked_at is null`,
  )
  const states = Map.groupBy(rows, (row) => agentStateOf({ revokedAt: null, lastContactAt: row.last_contact_at }, now))
  const count = (state: AgentState) => states.get(state)?.length ?? 0
  return { connected: count('connected'), silent: count('silent'), never_heard: count('never_heard') }
}

/** Of these organizations the living agents and when one of them was last heard; one without agents is not in it. */
export async function agentsOf(
  db: Queryable,
  organizationIds: readonly OrganizationId[],
): Promise<Map<OrganizationId, { agents: number; lastContactAt: Date | null }>> {
  const { rows } = await db.query<{ organization_id: OrganizationId; agents: string; last_contact_at: Date | null }>(
    `select a.organization_id, count(*) as agents, max(c.last_contact_at) as last_contact_at
       from agent a
       left join agent_contact c on c.agent_id = a.id
      where a.organization_id = any($1::bigint[]) and a.revoked_at is null
      group by a.organization_id`,
    [organizationIds],
  )
  return new Map(
    rows.map((row) => [row.organization_id, { agents: Number(row.agents), lastContactAt: row.last_contact_at }]),
  )
}

/** A part of all agents, those that were heard least lately first, so that whoever looks for trouble finds it on top; revoked ones last. */
export async function pageOfAgents(
  db: Queryable,
  page: { search: string; limit: number; offset: number },
): Promise<{ total: number; agents: AgentRow[] }> {
  const { total, rows } = await queryPage<AgentRow>(
    db,
    `select a.id, a.name, a.version, a.organization_id, o.name as organization_name, a.enrolled_at, a.revoked_at,
            c.last_contact_at
       from agent a
       join organization o on o.id = a.organization_id
       left join agent_contact c on c.agent_id = a.id
      where (a.name || ' ' || o.name || ' ' || coalesce(a.version, '')) ilike $1`,
    'revoked_at is not null, last_contact_at nulls first, enrolled_at, id',
    page,
    [containing(page.search)],
  )
  return { total, agents: rows }
}

type AgentRow = {
  id: AgentId
  name: string
  version: string | null
  organization_id: OrganizationId
  organization_name: string
  enrolled_at: Date
  revoked_at: Date | null
  last_contact_at: Date | null
}
