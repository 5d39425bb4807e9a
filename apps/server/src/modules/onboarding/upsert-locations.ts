import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type LocationId, newNumericId, type OrganizationId } from '../../platform/identity/identity.ts'
import { insertAttributionScripts } from '../attribution/store.ts'
import { openForOrganizationGrants } from '../consent/dataset-grant.ts'
import { insertDatasetStates } from '../datasets/dataset-state.ts'
import {
  insertLocations,
  type Location,
  type LocationSource,
  listLocations,
  updateLocations,
} from '../directory/location.ts'
import { lockOrganization } from '../directory/organization.ts'

/**
 * Stores what an agent reports of an organization's locations, by source id; locations that it does not name stay as they are.
 * A new location gets its dataset states, its attribution script and the grants of the whole organization in the same
 * transaction. A location without a change is not touched, so `updatedAt` moves only with a change. Returns all locations of
 * the organization. Throws a Problem when a source id occurs twice.
 */
export async function upsertLocations(
  pool: Pool,
  organizationId: OrganizationId,
  sources: readonly LocationSource[],
): Promise<Location[]> {
  const bySourceId = new Map(sources.map((source) => [source.sourceId, source]))
  if (bySourceId.size < sources.length)
    throw new Problem('field_invalid', { errors: 'Two locations have the same source_id. Send each location once.' })
  return await withTransaction(pool, async (client) => {
    await lockOrganization(client, organizationId)
    const before = await listLocations(client, organizationId)
    const knownIds = new Set(before.map((location) => location.sourceId))
    const { known = [], added = [] } = Object.groupBy(sources, ({ sourceId }) =>
      knownIds.has(sourceId) ? 'known' : 'added',
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
    return await listLocations(client, organizationId)
  })
}

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
