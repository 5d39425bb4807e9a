import type { DatasetName } from '@bridgework/contract'
import { type Access, datasetsEverywhere } from '../../modules/consent/access.ts'
import type { LocationId } from '../../platform/identity/identity.ts'

/** Locations that a text names one by one; the grants themselves have them all. */
const namedMax = 10

/** An access in words, for the history: `patients, treatments at all locations; fee_schedules at Main Street, Elm Street`. */
export function describeAccess(access: Access, locations: readonly { id: LocationId; name: string }[]): string {
  const byDataset = Map.groupBy(access, ({ dataset }) => dataset)
  const everywhere = datasetsEverywhere(access)
  const places = (dataset: DatasetName) => {
    if (everywhere.includes(dataset)) return 'all locations'
    const ids = new Set(byDataset.get(dataset)?.map(({ locationId }) => locationId))
    const names = locations.filter(({ id }) => ids.has(id)).map(({ name }) => name)
    return names.length > namedMax ? `${names.length} locations` : names.join(', ')
  }
  const byPlaces = Map.groupBy([...byDataset.keys()].sort(), places)
  return [...byPlaces].map(([where, datasets]) => `${datasets.join(', ')} at ${where}`).join('; ') || 'nothing'
}
