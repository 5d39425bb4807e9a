import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'

/** What one agent does at one location. `fence`: that of the writer when the request began. */
export type Writing = { locationId: LocationId; agentId: AgentId; fence: string }

/**
 * The place of a location's writer. `firstUpload`: what the agent reads from now on has this number or a higher one; what has a lower one was read
 * before another agent wrote.
 */
export type WriterPlace = { fence: string; firstUpload: string }

/** Who writes at a location, for people: since when, and who else wanted to. */
export type LocationWriter = {
  locationId: LocationId
  agentId: AgentId
  name: string
  lastContactAt: Date | null
  /** Its key was revoked: the next agent that comes takes its place. */
  isRevoked: boolean
  takenAt: Date
  refusedAgentId: AgentId | null
  refusedName: string | null
  refusedAt: Date | null
}

/**
 * Lets an agent write at a location: as its first writer, as the one that it is, or in place of one whose key was revoked.
 * Throws location_written with the name and the last contact of any other, and notes that this one was refused.
 */
export async function requireWriter(db: Queryable, locationId: LocationId, agentId: AgentId): Promise<WriterPlace> {
  const { rows } = await db.query<PlaceRow & { agent_id: AgentId }>({
    name: 'find-location-writer',
    text: 'select agent_id, fence, first_upload from location_writer where location_id = $1',
    values: [locationId],
  })
  const [row] = rows
  const place = row?.agent_id === agentId ? toPlace(row) : await take(db, locationId, agentId)
  if (place !== null) return place
  await noteRefused(db, [locationId], agentId)
  throw await writtenBy(db, locationId)
}

/**
 * Those of these locations at which this agent writes: as `requireWriter` lets it, location by location. That it is refused at the others is noted.
 */
export async function keepPlaces(
  db: Queryable,
  locationIds: readonly LocationId[],
  agentId: AgentId,
): Promise<Set<LocationId>> {
  const { rows } = await db.query<{ location_id: LocationId }>(
    'select location_id from location_writer where location_id = any($1::bigint[]) and agent_id = $2',
    [locationIds, agentId],
  )
  const own = new Set(rows.map((row) => row.location_id))
  const refused: LocationId[] = []
  for (const locationId of locationIds) {
    if (own.has(locationId)) continue
    if ((await take(db, locationId, agentId)) === null) refused.push(locationId)
    else own.add(locationId)
  }
  if (refused.length > 0) await noteRefused(db, refused, agentId)
  return own
}

/**
 * As `requireWriter`, within the transaction that writes: who takes over meanwhile waits for its end, and what began under an earlier fence writes nothing. Returns
 * whether what has this number was read under this fence.
 */
export async function holdWriter(
  client: Queryable,
  { locationId, agentId, fence }: Writing,
  number: string,
): Promise<boolean> {
  const { rows } = await client.query<{ is_own: boolean }>(
    `select first_upload <= $4 as is_own
       from location_writer
      where location_id = $1 and agent_id = $2 and fence = $3
        for share`,
    [locationId, agentId, fence, number],
  )
  if (!rows[0]) throw await writtenBy(client, locationId)
  return rows[0].is_own
}

/** The writers of these locations; a location that no agent has written at has none. */
export async function listWriters(
  db: Queryable,
  locationIds: readonly LocationId[],
): Promise<Map<LocationId, LocationWriter>> {
  const { rows } = await db.query<RowOf<LocationWriter>>(
    `select w.location_id, w.agent_id, a.name, c.last_contact_at, a.revoked_at is not null as is_revoked, w.taken_at,
            w.refused_agent_id, r.name as refused_name, w.refused_at
       from location_writer w
       join agent a on a.id = w.agent_id
       left join agent_contact c on c.agent_id = a.id
       left join agent r on r.id = w.refused_agent_id and r.revoked_at is null
      where w.location_id = any($1::bigint[])`,
    [locationIds],
  )
  return new Map(rows.map((row) => [row.location_id, fromRow<LocationWriter>(row)]))
}

/** The locations that this agent writes. */
export async function listWrittenBy(db: Queryable, agentId: AgentId): Promise<LocationId[]> {
  const { rows } = await db.query<{ location_id: LocationId }>(
    'select location_id from location_writer where agent_id = $1',
    [agentId],
  )
  return rows.map((row) => row.location_id)
}

/** Those of these locations at which this agent is refused. */
export async function listWrittenByOthers(
  db: Queryable,
  locationIds: readonly LocationId[],
  agentId: AgentId,
): Promise<Map<LocationId, LocationWriter>> {
  const writers = await listWriters(db, locationIds)
  return new Map([...writers].filter(([, writer]) => writer.agentId !== agentId && !writer.isRevoked))
}

/** Notes that an agent wanted to write where another does; at most once a minute, because it asks again with each request. */
export async function noteRefused(db: Queryable, locationIds: readonly LocationId[], agentId: AgentId): Promise<void> {
  await db.query(
    `with moment as (select clock_timestamp() as at, clock_timestamp() - interval '1 minute' as a_minute_ago)
     update location_writer set refused_agent_id = $2, refused_at = moment.at
       from moment
      where location_id = any($1::bigint[])
        and (refused_agent_id is distinct from $2 or refused_at < moment.a_minute_ago)`,
    [locationIds, agentId],
  )
}

/** What this agent has under way comes to nothing, wherever it writes, and it compares everything: another copy of it goes on. */
export async function raiseFences(client: Queryable, agentId: AgentId): Promise<void> {
  await client.query('update location_writer set fence = fence + 1 where agent_id = $1', [agentId])
}

/** What a new writer begins with, in an update of its row. */
const nothingRefused = 'refused_agent_id = null, refused_at = null'

/** The new agent writes in place of the old one wherever that wrote, and the old one's key ends. */
export async function replaceAgent(client: Queryable, oldId: AgentId, newId: AgentId): Promise<void> {
  await client.query(
    `with moment as (select clock_timestamp() as at)
     update agent set revoked_at = moment.at from moment where id = $1 and revoked_at is null`,
    [oldId],
  )
  // A new agent has read nothing before.
  await client.query(
    `with moment as (select clock_timestamp() as at)
     update location_writer
        set agent_id = $2, fence = fence + 1, first_upload = 0, taken_at = moment.at, ${nothingRefused}
       from moment
      where agent_id = $1`,
    [oldId, newId],
  )
}

/**
 * A person names the agent that writes at a location from now on; its name. To name the one that writes already changes nothing. Throws
 * agent_unknown for one that is revoked or not of the location's organization.
 */
export async function takeOver(
  db: Queryable,
  { locationId, agentId, organizationId }: { locationId: LocationId; agentId: AgentId; organizationId: OrganizationId },
): Promise<{ name: string }> {
  const { rows } = await db.query<{ name: string }>(
    'select name from agent where id = $1 and organization_id = $2 and revoked_at is null for share',
    [agentId, organizationId],
  )
  if (!rows[0]) throw new Problem('agent_unknown')
  const firstUpload = await passNumbers(db, locationId, agentId, 'true')
  await db.query(
    `insert into location_writer (location_id, agent_id, taken_at)
     values ($1, $2, clock_timestamp())
         on conflict (location_id) do update
        set agent_id = excluded.agent_id, fence = location_writer.fence + 1, first_upload = $3,
            taken_at = excluded.taken_at, ${nothingRefused}
      where location_writer.agent_id <> excluded.agent_id`,
    [locationId, agentId, firstUpload],
  )
  return rows[0]
}

/**
 * Takes a place that no agent has, or that an agent has whose key was revoked. Null when it is another's. The fence does not rise: a revoked agent
 * never comes back.
 */
async function take(db: Queryable, locationId: LocationId, agentId: AgentId): Promise<WriterPlace | null> {
  const isRevoked =
    'exists (select 1 from agent where agent.id = location_writer.agent_id and agent.revoked_at is not null)'
  const firstUpload = await passNumbers(db, locationId, agentId, isRevoked)
  const { rows } = await db.query<PlaceRow>(
    `insert into location_writer (location_id, agent_id, taken_at)
     values ($1, $2, clock_timestamp())
         on conflict (location_id) do update
        set agent_id = excluded.agent_id, first_upload = $3, taken_at = excluded.taken_at, ${nothingRefused}
      where location_writer.agent_id <> excluded.agent_id and ${isRevoked}
     returning fence, first_upload`,
    [locationId, agentId, firstUpload],
  )
  if (rows[0]) return toPlace(rows[0])
  // Two first requests of one agent at once are one writer: the other one has just taken the place.
  const own = await db.query<PlaceRow>(
    'select fence, first_upload from location_writer where location_id = $1 and agent_id = $2',
    [locationId, agentId],
  )
  return own.rows[0] ? toPlace(own.rows[0]) : null
}

/**
 * An agent that comes back passes over numbers, more than it can have drawn for what it read before another wrote here: `firstUpload` from then on.
 * '0' for one that never wrote here. The agent finds a higher number at the service than its own, and compares everything; it may start again with
 * the lower one. Its number is locked before the writer's row, as by its uploads.
 */
async function passNumbers(
  db: Queryable,
  locationId: LocationId,
  agentId: AgentId,
  condition: string,
): Promise<string> {
  const { rows } = await db.query<{ first: string }>(
    `with passed as (
       update agent_number
          set highest = highest + 1000000
        where agent_id = $2
          and exists (select 1 from upload where upload.location_id = $1 and upload.agent_id = $2)
          and exists (select 1 from location_writer where location_id = $1 and location_writer.agent_id <> $2 and ${condition})
       returning highest),
     excused as (
       update agent_process set excused_number = passed.highest from passed where agent_id = $2)
     select highest + 1 as first from passed`,
    [locationId, agentId],
  )
  return rows[0]?.first ?? '0'
}

type PlaceRow = { fence: string; first_upload: string }

function toPlace(row: PlaceRow): WriterPlace {
  return { fence: row.fence, firstUpload: row.first_upload }
}

async function writtenBy(db: Queryable, locationId: LocationId): Promise<Problem> {
  const writer = (await listWriters(db, [locationId])).get(locationId)
  const contact = writer?.lastContactAt?.toISOString() ?? null
  return new Problem('location_written', {
    errors: `Another agent, "${writer?.name}", writes at this location; its last contact was ${contact ?? 'never'}. If this one should write, a person lets it take over in the portal.`,
    members: { agent_name: writer?.name ?? null, last_contact_at: contact },
  })
}
