import type { sortColumns } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, orderOf, queryPage, type Sort } from '../../platform/database/search.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'

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
        last_contact: 'last_contact_at',
        version: 'version',
        enrolled: 'enrolled_at',
      },
      'revoked_at is not null, last_contact_at nulls first, enrolled_at, id',
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

const agentEntries = `select a.id, a.name, a.version, a.organization_id, o.name as organization_name, a.enrolled_at, a.revoked_at,
            c.last_contact_at
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
  revoked_at: Date | null
  last_contact_at: Date | null
}
