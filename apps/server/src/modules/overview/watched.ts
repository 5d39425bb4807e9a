import type { DatasetName } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { AgentId, CompanyId, LocationId, MemberId, OrganizationId } from '../../platform/identity/identity.ts'
import type { OfficeHours } from '../directory/office-hours.ts'

// What the checks of modules/notices look at, over all practices and companies: every few minutes, off the path of requests. What has rows for each
// practice is asked for some of them at a time.

type Place = { location: string; timeZone: string | null; officeHours: OfficeHours | null }

export type WatchedAgent = Place & {
  id: AgentId
  name: string
  organizationId: OrganizationId
  enrolledAt: Date
  lastContactAt: Date | null
}

/** A living agent at an active location at which it writes; without one, once with null as the location and its name. */
export type AgentAtPlace = WatchedAgent & { locationId: LocationId | null }

/** Of these agents those that were not heard since then, or are newer and were never heard. */
export async function listSilentAgents(db: Queryable, ids: readonly AgentId[], since: Date): Promise<AgentAtPlace[]> {
  return await listAgentsAtPlaces(db, 'a.id = any($1::bigint[]) and coalesce(c.last_contact_at, a.enrolled_at) < $2', [
    ids,
    since,
  ])
}

/** The agents that were enrolled since then. By agent_enrolled. */
export async function listNewAgents(db: Queryable, since: Date): Promise<AgentAtPlace[]> {
  return await listAgentsAtPlaces(db, 'a.enrolled_at > $1', [since])
}

/**
 * What was refused since then because another agent sends there: an agent at a location (location_writer_refused), or a second copy of one on a
 * computer (agent_process_refused). `item` tells one from another.
 */
export async function listRefusedAgents(
  db: Queryable,
  since: Date,
): Promise<
  { organizationId: OrganizationId; item: string; name: string; location: string | null; computer: string | null }[]
> {
  const { rows } = await db.query(
    `select a.organization_id as "organizationId", concat_ws(' ', 'agent', a.id, l.id) as item, a.name, l.name as location,
            null as computer
       from location_writer w
       join agent a on a.id = w.refused_agent_id and a.revoked_at is null
       join location l on l.id = w.location_id
      where w.refused_at > $1
      union all
     select a.organization_id, concat_ws(' ', 'copy', a.id, p.refused_computer), a.name, null, p.refused_computer
       from agent_process p
       join agent a on a.id = p.agent_id and a.revoked_at is null
      where p.refused_at > $1`,
    [since],
  )
  return rows
}

/** The agents that report a problem since before then. */
export async function listTroubledAgents(db: Queryable, before: Date): Promise<AgentAtPlace[]> {
  return await listAgentsAtPlaces(db, 'a.id in (select agent_id from agent_problem where since < $1)', [before])
}

async function listAgentsAtPlaces(db: Queryable, condition: string, values: unknown[]): Promise<AgentAtPlace[]> {
  const { rows } = await db.query<AgentAtPlace>(
    `select a.id, a.name, a.organization_id as "organizationId", a.enrolled_at as "enrolledAt",
            c.last_contact_at as "lastContactAt", l.id as "locationId", l.name as location, l.time_zone as "timeZone",
            l.office_hours as "officeHours"
       from agent a
       left join agent_contact c on c.agent_id = a.id
       left join location_writer w on w.agent_id = a.id
       left join location l on l.id = w.location_id and l.is_active
      where a.revoked_at is null and ${condition}
      order by a.id, l.id`,
    values,
  )
  return rows
}

export type WatchedDataset = Place & {
  locationId: LocationId
  organizationId: OrganizationId
  dataset: DatasetName
  createdAt: Date
  syncedAt: Date | null
  isComplete: boolean
  /** The agent that writes at the location; null: none. */
  agentId: AgentId | null
  lastContactAt: Date | null
}

/**
 * Datasets of those of these locations that are active that were not read to the end since then, or never, with the last contact of the location's
 * agent.
 */
export async function listUnreadDatasets(
  db: Queryable,
  locationIds: readonly LocationId[],
  since: Date,
): Promise<WatchedDataset[]> {
  const { rows } = await db.query<WatchedDataset>(
    `select l.id as "locationId", l.name as location, l.organization_id as "organizationId", l.time_zone as "timeZone",
            l.office_hours as "officeHours", l.created_at as "createdAt", s.dataset, s.synced_at as "syncedAt",
            s.initial_sync_completed_at is not null as "isComplete", w.agent_id as "agentId", c.last_contact_at as "lastContactAt"
       from location l
       join dataset_state s on s.location_id = l.id and s.is_provided
       left join location_writer w on w.location_id = l.id
       left join agent_contact c on c.agent_id = w.agent_id
      where l.id = any($1::bigint[]) and l.is_active and (s.synced_at < $2 or s.initial_sync_completed_at is null)
      order by l.id, s.dataset`,
    [locationIds, since],
  )
  return rows
}

/** Removals that a practice has to decide, by location and dataset. */
export async function listHeldRemovals(
  db: Queryable,
): Promise<
  { id: string; organizationId: OrganizationId; locationId: LocationId; location: string; dataset: DatasetName }[]
> {
  const { rows } = await db.query(
    `select r.id, r.location_id as "locationId", l.organization_id as "organizationId", l.name as location, r.dataset
       from removal r
       join location l on l.id = r.location_id
      where r.state = 'held'
      order by r.location_id, r.dataset`,
  )
  return rows
}

/** Of these locations those that are closed. */
export async function listClosedLocations(db: Queryable, ids: readonly LocationId[]): Promise<LocationId[]> {
  const { rows } = await db.query<{ id: LocationId }>(
    'select id from location where id = any($1::bigint[]) and not is_active order by id',
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Active companies that accepted an earlier version of the agreement and not the newest. */
export async function listOwedAgreements(
  db: Queryable,
): Promise<{ companyId: CompanyId; version: number; enforcedAt: Date }[]> {
  const { rows } = await db.query(
    `select c.id as "companyId", newest.version, newest.enforced_at as "enforcedAt"
       from company c,
            (select version, enforced_at from agreement order by version desc limit 1) newest
      where c.state = 'active'
        and exists (select 1 from agreement_acceptance a where a.company_id = c.id)
        and not exists (select 1 from agreement_acceptance a where a.company_id = c.id and a.version = newest.version)
      order by c.id`,
  )
  return rows
}

/** How many requests of each active company were answered 429 since then, where there were any; by the primary key. */
export async function countThrottled(db: Queryable, since: Date): Promise<{ companyId: CompanyId; count: number }[]> {
  const { rows } = await db.query(
    `select c.id as "companyId", used.count
       from company c
       join lateral (select sum(throttled)::integer as count from vendor_usage u
                      where u.company_id = c.id and u.bucket_at >= $1) used on used.count > 0
      where c.state = 'active'
      order by c.id`,
    [since],
  )
  return rows
}

/** How many of the last requests of each active company were answered 401 since then, where there were any; by the primary key. */
export async function countUnauthorized(
  db: Queryable,
  since: Date,
): Promise<{ companyId: CompanyId; count: number }[]> {
  const { rows } = await db.query(
    `select c.id as "companyId", refused.count
       from company c
       join lateral (select count(*)::integer as count
                       from (select answered_at from vendor_request r
                              where r.company_id = c.id and r.outcome = 'unauthenticated'
                              order by id desc limit 100) latest
                      where answered_at >= $1) refused on refused.count > 0
      where c.state = 'active'
      order by c.id`,
    [since],
  )
  return rows
}

/** At most `limit` members with an account after this one, by id. `tenantId`: their company or practice, or `operator`. */
export async function listMemberAddresses(
  db: Queryable,
  after: MemberId,
  limit: number,
): Promise<{ id: MemberId; tenantId: string; name: string; email: string }[]> {
  const { rows } = await db.query(
    `select id, tenant_id as "tenantId", name, email
       from membership
      where id > $1 and user_id is not null and removed_at is null
      order by id
      limit $2`,
    [after, limit],
  )
  return rows
}

/** How much work of each kind is overdue or fails. Work from before `since` is overdue. */
export async function findBacklog(
  db: Queryable,
  since: Date,
): Promise<{ rerendering: number; removals: number; mails: number }> {
  const { rows } = await db.query(
    `select (select count(*)::integer from rerender_work where created_at < $1) as rerendering,
            (select count(*)::integer from removal where state = 'running' and attempts > 0) as removals,
            (select count(*)::integer from mail where created_at < $1 and attempts > 0) as mails`,
    [since],
  )
  return rows[0]
}

/** Webhooks whose attempts fail, and those that an answer or the time stopped. */
export async function listFailingWebhooks(db: Queryable): Promise<
  {
    id: string
    companyId: CompanyId
    url: string
    failingSince: Date | null
    stoppedBecause: 'failing' | 'gone' | null
  }[]
> {
  const { rows } = await db.query<{
    id: string
    company_id: CompanyId
    url: string
    failing_since: Date | null
    stopped_because: 'failing' | 'gone' | null
  }>(
    `select id, company_id, url, failing_since, stopped_because
       from webhook_endpoint
      where stopped_because in ('failing', 'gone') or stopped_because is null and failing_since is not null`,
  )
  return rows.map((row) => ({
    ...{ id: row.id, companyId: row.company_id, url: row.url },
    ...{ failingSince: row.failing_since, stoppedBecause: row.stopped_because },
  }))
}
