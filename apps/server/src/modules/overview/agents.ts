import type { AgentState, sortColumns } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, orderOf, queryPage, type Sort } from '../../platform/database/search.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'
import { agentStateOf } from '../agents/agent-state.ts'
import type { OpenTimes } from '../directory/office-hours.ts'

/** What agents are sorted by. */
type AgentColumn = (typeof sortColumns.agents)[number]

/** A part of all agents, as sorted or the one silent for longest first and revoked ones last, with the name of its organization. */
export async function pageOfAgents(
  db: Queryable,
  page: { search: string; sort: Sort<AgentColumn> | null; limit: number; offset: number },
): Promise<{ total: number; agents: AgentRow[] }> {
  const { total, rows } = await queryPage<AgentRow>(
    db,
    `${agentEntries}
      where (a.name || ' ' || o.name || ' ' || coalesce(a.version, '')) ilike $1`,
    orderOf(
      page.sort,
      {
        name: 'lower(name)',
        organization: 'lower(organization_name)',
        last_contact: '"lastContactAt"',
        version: 'version',
        enrolled: 'enrolled_at',
      },
      '"revokedAt" is not null, "lastContactAt" nulls first, enrolled_at, id',
    ),
    page,
    [containing(page.search)],
  )
  return { total, agents: rows }
}

/** One of them. Throws a Problem when there is none. */
export async function requireAgentEntry(db: Queryable, id: AgentId): Promise<AgentRow> {
  const { rows } = await db.query<AgentRow>(`${agentEntries} where a.id = $1`, [id])
  if (!rows[0]) throw new Problem('agent_unknown')
  return rows[0]
}

/** Whether an agent of these is there now; by when the active locations at which it writes are open. */
export async function statesOfAgents<Agent extends { id: AgentId; revokedAt: Date | null; lastContactAt: Date | null }>(
  db: Queryable,
  agents: readonly Agent[],
  now: Date,
): Promise<(agent: Agent) => AgentState> {
  const { rows } = await db.query<OpenTimes & { agentId: AgentId }>(
    `select w.agent_id as "agentId", l.time_zone as "timeZone", l.office_hours as "officeHours"
       from location_writer w
       join location l on l.id = w.location_id and l.is_active
      where w.agent_id = any($1::bigint[])`,
    [agents.map(({ id }) => id)],
  )
  const places = Map.groupBy(rows, ({ agentId }) => agentId)
  return (agent) => agentStateOf(agent, now, places.get(agent.id))
}

const agentEntries = `select a.id, a.name, a.version, a.organization_id, o.name as organization_name, a.enrolled_at,
            a.revoked_at as "revokedAt", c.last_contact_at as "lastContactAt"
       from agent a
       join organization o on o.id = a.organization_id
       left join agent_contact c on c.agent_id = a.id`

type AgentRow = {
  id: AgentId
  name: string
  version: string | null
  organization_id: OrganizationId
  organization_name: string
  enrolled_at: Date
  revokedAt: Date | null
  lastContactAt: Date | null
}
