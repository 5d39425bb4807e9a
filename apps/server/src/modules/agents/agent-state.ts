import type { AgentState } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { OrganizationId } from '../../platform/identity/identity.ts'
import { type OpenTimes, openMsBetween } from '../directory/office-hours.ts'

/** An agent asks every minute or so: one that was not heard for three is off or cut off. */
const silentAfterMs = 3 * 60_000

/** Whether an agent is there now. `places`: when its locations are open, where that is known; while all are closed its computer may be off. */
export function agentStateOf(
  { revokedAt, lastContactAt }: { revokedAt: Date | null; lastContactAt: Date | null },
  now: Date,
  places: readonly OpenTimes[] = [],
): AgentState {
  if (revokedAt !== null) return 'revoked'
  if (lastContactAt === null) return 'never_heard'
  if (now.getTime() - lastContactAt.getTime() <= silentAfterMs) return 'connected'
  const isMissed = places.length === 0 || places.some((each) => openMsBetween(each, lastContactAt, now) > silentAfterMs)
  return isMissed ? 'silent' : 'office_closed'
}

/** How many living agents there are of each state, over all organizations. */
export async function countAgents(
  db: Queryable,
  now: Date,
): Promise<{ connected: number; silent: number; never_heard: number }> {
  const { rows } = await db.query<{ connected: number; silent: number; never_heard: number }>(
    `select count(*) filter (where c.last_contact_at >= $1)::float8 as connected,
            count(*) filter (where c.last_contact_at < $1)::float8 as silent,
            count(*) filter (where c.last_contact_at is null)::float8 as never_heard
       from agent a
       left join agent_contact c on c.agent_id = a.id
      where a.revoked_at is null`,
    [new Date(now.getTime() - silentAfterMs)],
  )
  return rows[0] ?? { connected: 0, silent: 0, never_heard: 0 }
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
