import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type AgentId, type LocationId, newNumericId, type OrganizationId } from '../../platform/identity/identity.ts'
import { listAgents } from '../agents/agent-key.ts'
import { listWrittenByOthers, noteRefused } from '../agents/location-writer.ts'
import { insertAttributionScripts } from '../attribution/store.ts'
import { openForOrganizationGrants } from '../consent/dataset-grant.ts'
import { insertDatasetStates, listDatasetStates, type Provided, setProvided } from '../datasets/dataset-state.ts'
import {
  closeLocations,
  insertLocations,
  type Location,
  type LocationSource,
  listLocations,
  openLocations,
  updateLocations,
} from '../directory/location.ts'
import { lockOrganization } from '../directory/organization.ts'
import { dropWaitingRemovals, requestRemovals } from '../records/removals/removal-store.ts'

/** By which agent locations are reported, and whether the list names every location that its system has. */
export type LocationReport = {
  agentId: AgentId
  isComplete: boolean
  provided: Provided
  now: Date
}

/**
 * Stores what an agent reports of an organization's locations, by source id. Those at which another agent writes stay as that one reports them.
 * Locations that it does not name stay as they are, unless the list is complete: then those that no other agent reports are closed, and all their records are held for removal. One that is named is open again.
 * A new location gets its dataset states, its attribution script and the grants of the whole organization in the same
 * transaction. A location without a change is not touched, so `updatedAt` moves only with a change. Returns all locations of
 * the organization. Throws a Problem when a source id occurs twice, or a complete list is empty.
 */
export async function upsertLocations(
  pool: Pool,
  organizationId: OrganizationId,
  sources: readonly LocationSource[],
  report: LocationReport | null = null,
): Promise<Location[]> {
  const bySourceId = new Map(sources.map((source) => [source.sourceId, source]))
  if (bySourceId.size < sources.length)
    throw new Problem('field_invalid', { errors: 'Two locations have the same source_id. Send each location once.' })
  if (report?.isComplete && sources.length === 0)
    throw new Problem('field_invalid', {
      errors: 'A complete list names at least one location. Send the locations, or leave complete out.',
    })
  return await withTransaction(pool, async (client) => {
    await lockOrganization(client, organizationId)
    const before = await listLocations(client, organizationId)
    const knownIds = new Set(before.map((location) => location.sourceId))
    const others = await namedByAnother(client, before, sources, report)
    const { known = [], added = [] } = Object.groupBy(
      sources.filter(({ sourceId }) => !others.has(sourceId)),
      ({ sourceId }) => (knownIds.has(sourceId) ? 'known' : 'added'),
    )
    await updateLocations(client, organizationId, known)
    if (added.length > 0) {
      const created = added.map((source) => ({ ...source, id: newNumericId<LocationId>() }))
      const newIds = created.map(({ id }) => id)
      await insertLocations(client, organizationId, created)
      await insertDatasetStates(client, newIds)
      await insertAttributionScripts(client, newIds)
      await openForOrganizationGrants(client, organizationId, newIds)
    }
    if (report) await closeAndOpen(client, organizationId, { all: [...bySourceId.keys()], others }, report)
    const locations = await listLocations(client, organizationId)
    const own = locations.filter(({ sourceId }) => bySourceId.has(sourceId) && !others.has(sourceId))
    if (report)
      await setProvided(
        client,
        own.map(({ id }) => id),
        report.provided,
      )
    return locations
  })
}

/** Source ids of locations that are reported here though another agent writes at them, which is noted. */
async function namedByAnother(
  client: Queryable,
  before: readonly Location[],
  sources: readonly LocationSource[],
  report: LocationReport | null,
): Promise<ReadonlySet<string>> {
  if (report === null) return new Set()
  const named = new Set(sources.map(({ sourceId }) => sourceId))
  const reported = before.filter(({ sourceId }) => named.has(sourceId))
  const ids = reported.map(({ id }) => id)
  const others = await listWrittenByOthers(client, ids, report.agentId)
  await noteRefused(client, [...others.keys()], report.agentId)
  return new Set(reported.filter(({ id }) => others.has(id)).map(({ sourceId }) => sourceId))
}

async function closeAndOpen(
  client: Queryable,
  organizationId: OrganizationId,
  named: { all: readonly string[]; others: ReadonlySet<string> },
  { agentId, isComplete, now }: LocationReport,
): Promise<void> {
  const own = named.all.filter((sourceId) => !named.others.has(sourceId))
  await dropWaitingRemovals(client, await openLocations(client, organizationId, own, agentId))
  if (!isComplete) return
  const others = (await listAgents(client, organizationId)).filter(
    (agent) => agent.id !== agentId && isAlive(agent, now),
  )
  const closed = await closeLocations(
    client,
    organizationId,
    named.all,
    others.map((agent) => agent.id),
  )
  if (closed.length === 0) return
  await dropWaitingRemovals(client, closed)
  const states = await listDatasetStates(client, closed)
  await requestRemovals(
    client,
    [...states].flatMap(([locationId, ofLocation]) =>
      [...ofLocation].filter(([, state]) => state.visible > 0).map(([dataset]) => ({ locationId, dataset })),
    ),
  )
}

/** Not revoked, and heard within a day: such an agent answers for the locations that it reported. */
function isAlive(agent: { revokedAt: Date | null; lastContactAt: Date | null }, now: Date): boolean {
  return (
    agent.revokedAt === null && agent.lastContactAt !== null && now.getTime() - agent.lastContactAt.getTime() < dayMs
  )
}

const dayMs = 24 * 60 * 60_000

/** Makes one location, as `upsertLocations` does; an operator's or a test's way. */
export async function createLocation(
  pool: Pool,
  organizationId: OrganizationId,
  source: Partial<LocationSource> & { sourceId: string; name: string },
): Promise<Location> {
  const all = await upsertLocations(pool, organizationId, [{ ...emptySource, ...source }])
  const created = all.find((location) => location.sourceId === source.sourceId)
  if (!created) throw new Error('the location was not stored')
  return created
}

const emptySource: Omit<LocationSource, 'sourceId' | 'name'> = {
  addressLine1: null,
  addressLine2: null,
  city: null,
  state: null,
  postalCode: null,
  country: null,
  phone: null,
  email: null,
  websiteUrl: null,
  timeZone: null,
  currency: null,
  isActive: true,
  practiceManagementSystem: { name: null, version: null },
  officeHours: null,
}
