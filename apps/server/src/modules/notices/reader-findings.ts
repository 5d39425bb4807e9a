import type { DatasetName } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { quoted } from '../audit/quoted.ts'
import { listReaders, type Reader } from '../overview/readers.ts'
import { listClosedLocations } from '../overview/watched.ts'
import { type Finding, listBegun } from './conditions.ts'

// What the companies are told that may read a location: one finding for each of them and location, of what it may read there and nothing else; its
// datasets are named where they are not all. From the same rows as the practice's own findings, so that a company never knows more than the practice.

type DatasetAt = { locationId: LocationId; dataset: DatasetName }

/**
 * Locations with a dataset that was last read to the end too long ago: `location_silent` where the agent is not heard either, else `location_stale`.
 * What has begun as one stays so until all is read, also when the agent is heard again or falls silent: an end always means that the data is current.
 */
export async function findOldForReaders(
  db: Queryable,
  old: readonly DatasetAt[],
  heardAt: ReadonlySet<LocationId>,
): Promise<Finding[]> {
  const found = await findForReaders(db, old, ({ locationId }) =>
    heardAt.has(locationId) ? 'location_stale' : 'location_silent',
  )
  if (found.length === 0) return []
  const begun = await listBegun(
    db,
    ['location_silent', 'location_stale'],
    [...new Set(found.map(({ tenantId }) => tenantId))],
    [...new Set(found.map(({ item }) => item))],
  )
  const eventOf = new Map(begun.map(({ event, tenantId, item }) => [`${tenantId} ${item}`, event]))
  return found.map((each) => ({ ...each, event: eventOf.get(`${each.tenantId} ${each.item}`) ?? each.event }))
}

/** Locations at which a removal waits for the practice. */
export async function findHeldForReaders(db: Queryable, held: readonly DatasetAt[]): Promise<Finding[]> {
  return await findForReaders(db, held, () => 'location_removal_held')
}

/** Of these locations those that are closed. */
export async function findClosedForReaders(db: Queryable, locationIds: readonly LocationId[]): Promise<Finding[]> {
  const readers = await listReaders(db, await listClosedLocations(db, locationIds))
  return readers.map((reader) => ({ ...keyOf(reader), event: 'location_closed', about: placeOf(reader) }))
}

async function findForReaders(
  db: Queryable,
  datasets: readonly DatasetAt[],
  eventOf: (reader: Reader) => Finding['event'],
): Promise<Finding[]> {
  const concerned = Map.groupBy(datasets, ({ locationId }) => locationId)
  return (await listReaders(db, [...concerned.keys()])).flatMap((reader): Finding[] => {
    const own = concerned.get(reader.locationId)?.filter(({ dataset }) => reader.datasets.includes(dataset)) ?? []
    if (own.length === 0) return []
    const names = own.length === reader.datasets.length ? '' : `${own.map(({ dataset }) => dataset).join(', ')} at `
    return [{ ...keyOf(reader), event: eventOf(reader), about: `${names}${placeOf(reader)}` }]
  })
}

function keyOf({ companyId, locationId }: Reader): Pick<Finding, 'tenantId' | 'item'> {
  return { tenantId: companyId, item: locationId }
}

function placeOf({ location, organization }: Reader): string {
  return `${quoted(location)} of ${quoted(organization)}`
}
