import type { LocationId } from '../../platform/identity/identity.ts'
import type { Access } from './access.ts'

/** Locations that a text names one by one; the grants themselves have them all. */
const namedMax = 10

/** An access in words, for the history: `patients, treatments with notes at all locations; fee_schedules at Main Street, Elm Street`. */
export function describeAccess(access: Access, locations: readonly { id: LocationId; name: string }[]): string {
  const byDataset = Map.groupBy(access, ({ dataset, notes }) => (notes ? `${dataset} with notes` : dataset))
  const places = (dataset: string) => {
    const ids = new Set(byDataset.get(dataset)?.map(({ locationId }) => locationId))
    if (ids.has(null)) return 'all locations'
    const names = locations.filter(({ id }) => ids.has(id)).map(({ name }) => name)
    return names.length > namedMax ? `${names.length} locations` : names.join(', ')
  }
  const byPlaces = Map.groupBy([...byDataset.keys()].sort(), places)
  return [...byPlaces].map(([where, datasets]) => `${datasets.join(', ')} at ${where}`).join('; ') || 'nothing'
}

/** What an access is for and its end, for the history: ` Purpose: Recall. Ends: 2027-01-01T05:00Z.`; nothing where neither is said. */
export function describeTerms({ purpose, endsAt }: { purpose: string | null; endsAt: Date | null }): string {
  const end = endsAt && `${endsAt.toISOString().slice(0, 16)}Z`
  return `${purpose ? ` Purpose: ${purpose}.` : ''}${end ? ` Ends: ${end}.` : ''}`
}
