import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'

/** A part of all agents, the one silent for longest first and revoked ones last, with the name of its organization. */
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
