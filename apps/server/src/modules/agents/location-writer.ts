import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'

/** The one agent that writes at a location. `fence` rises when another takes over; `takenAt`: since when it writes. */
export type LocationWriter = { agentId: AgentId; fence: string; takenAt: Date }

/**
 * Lets an agent write at a location: as its first writer, as the one that it is, or in place of one whose key was revoked. Throws location_written
 * with the name and the last contact of any other.
 */
export async function requireWriter(db: Queryable, locationId: LocationId, agentId: AgentId): Promise<LocationWriter> {
  const { rows } = await db.query<{ agent_id: AgentId; fence: string; taken_at: Date }>({
    name: 'find-location-writer',
    text: 'select agent_id, fence, taken_at from location_writer where location_id = $1',
    values: [locationId],
  })
  const [row] = rows
  if (row?.agent_id === agentId) return { agentId, fence: row.fence, takenAt: row.taken_at }
  const taken = await take(db, locationId, agentId)
  if (taken) return taken
  throw await writtenBy(db, locationId)
}

/**
 * The same within the transaction that writes: who takes over meanwhile waits for its end, and what began under an earlier fence writes nothing.
 * A location without a writer lets everyone write.
 */
export async function holdWriter(
  client: Queryable,
  { locationId, agentId, fence }: { locationId: LocationId; agentId: AgentId; fence?: string },
): Promise<void> {
  const { rows } = await client.query<{ agent_id: AgentId; fence: string }>(
    'select agent_id, fence from location_writer where location_id = $1 for share',
    [locationId],
  )
  const [row] = rows
  if (row && (row.agent_id !== agentId || (fence !== undefined && row.fence !== fence))) {
    throw await writtenBy(client, locationId)
  }
}

/** Since when this agent is a location's writer; null when it is not. */
export async function writesSince(db: Queryable, locationId: LocationId, agentId: AgentId): Promise<Date | null> {
  const { rows } = await db.query<{ taken_at: Date }>(
    'select taken_at from location_writer where location_id = $1 and agent_id = $2',
    [locationId, agentId],
  )
  return rows[0]?.taken_at ?? null
}

/** The new agent writes in place of the old one wherever that wrote, and the old one's key ends. */
export async function replaceAgent(client: Queryable, oldId: AgentId, newId: AgentId): Promise<void> {
  await client.query('update agent set revoked_at = clock_timestamp() where id = $1 and revoked_at is null', [oldId])
  await client.query(
    `update location_writer set agent_id = $2, fence = fence + 1, taken_at = clock_timestamp() where agent_id = $1`,
    [oldId, newId],
  )
}

/** A person names the agent that writes at a location from now on. Throws agent_unknown for one that is not of the location's organization. */
export async function takeOver(
  db: Queryable,
  { locationId, agentId, organizationId }: { locationId: LocationId; agentId: AgentId; organizationId: OrganizationId },
): Promise<void> {
  const { rowCount } = await db.query(
    `insert into location_writer (location_id, agent_id, taken_at)
     select $1, id, clock_timestamp() from agent where id = $2 and organization_id = $3 and revoked_at is null
         on conflict (location_id) do update
        set agent_id = excluded.agent_id, fence = location_writer.fence + 1, taken_at = excluded.taken_at`,
    [locationId, agentId, organizationId],
  )
  if (rowCount === 0) throw new Problem('agent_unknown')
}

/** Takes a place that nobody has, or that an agent has whose key was revoked. Null when it is another's. */
async function take(db: Queryable, locationId: LocationId, agentId: AgentId): Promise<LocationWriter | null> {
  const { rows } = await db.query<{ fence: string; taken_at: Date }>(
    `insert into location_writer (location_id, agent_id, taken_at)
     values ($1, $2, clock_timestamp())
         on conflict (location_id) do update
        set agent_id = excluded.agent_id,
            -- Two first requests of one agent at once are one writer.
            fence = location_writer.fence + (location_writer.agent_id <> excluded.agent_id)::integer,
            taken_at = case when location_writer.agent_id = excluded.agent_id then location_writer.taken_at else excluded.taken_at end
      where location_writer.agent_id = excluded.agent_id
         or exists (select from agent where agent.id = location_writer.agent_id and agent.revoked_at is not null)
     returning fence, taken_at`,
    [locationId, agentId],
  )
  return rows[0] ? { agentId, fence: rows[0].fence, takenAt: rows[0].taken_at } : null
}

async function writtenBy(db: Queryable, locationId: LocationId): Promise<Problem> {
  const { rows } = await db.query<{ name: string; last_contact_at: Date | null }>(
    `select a.name, c.last_contact_at
       from location_writer w
       join agent a on a.id = w.agent_id
       left join agent_contact c on c.agent_id = a.id
      where w.location_id = $1`,
    [locationId],
  )
  const [writer] = rows
  const contact = writer?.last_contact_at?.toISOString() ?? null
  return new Problem('location_written', {
    errors: `Another agent, "${writer?.name}", writes at this location; its last contact was ${contact ?? 'never'}. Revoke it, or let this one take over.`,
    members: { agent_name: writer?.name ?? null, last_contact_at: contact },
  })
}
