import { getDataset } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'
import { about, joined, ours, type Subject } from '../audit/subject.ts'
import { type Access, without } from './access.ts'

/** Locations that a text names one by one; the grants themselves have them all. */
const namedMax = 10

/** An access in words, for the history: `patients, treatments with notes at all locations; fee_schedules at Main Street, Elm Street`. */
export function describeAccess(access: Access, locations: readonly Place[]): Subject {
  const byDataset = Map.groupBy(access, ({ dataset, notes }) => (notes ? `${dataset} with notes` : dataset))
  const places = (dataset: string) => {
    const ids = new Set(byDataset.get(dataset)?.map(({ locationId }) => locationId))
    if (ids.has(null)) return 'all locations'
    const names = locations.filter(({ id }) => ids.has(id)).map(({ name }) => name)
    return names.length > namedMax ? `${names.length} locations` : names.map(marked).join(', ')
  }
  const byPlaces = Map.groupBy([...byDataset.keys()].sort(), places)
  return ours([...byPlaces].map(([where, datasets]) => `${datasets.join(', ')} at ${where}`).join('; ') || 'nothing')
}

type Terms = { purpose: string | null; endsAt: Date | null }
type Place = { id: LocationId; name: string }

/**
 * A change of access in words: `Before: patients at Main Street. After: nothing. Granted: nothing. Removed: Patients at Main Street.`, and then what
 * it is for and its end, where they are said.
 */
export function describeChange(
  { before, after, opened, closed, terms }: Record<'before' | 'after' | 'opened' | 'closed', Access> & { terms: Terms },
  locations: readonly Place[],
): Subject {
  const everywhere = (access: Access) => access.filter(({ locationId }) => locationId === null)
  const granted = describePart([...opened, ...everywhere(without(after, before))], before, locations)
  const removed = describePart([...closed, ...everywhere(without(before, after))], after, locations)
  const [was, is] = [describeAccess(before, locations), describeAccess(after, locations)]
  return about`Before: ${was}. After: ${is}. Granted: ${granted}. Removed: ${removed}.${describeTerms(terms)}`
}

/** `Patients and Fee schedules at 3 locations; notes of Treatments at Elm Street`. `rest`: what may be read of the same places all the same. */
function describePart(part: Access, rest: Access, locations: readonly Place[]): Subject {
  const isReadable = (id: LocationId | null, dataset: string) =>
    rest.some((each) => each.dataset === dataset && (each.locationId === null || each.locationId === id))
  const byLabel = Map.groupBy(part, ({ locationId, dataset, notes }) => {
    const { title } = getDataset(dataset)
    if (!notes) return title
    return isReadable(locationId, dataset) ? `notes of ${title}` : `${title} with notes`
  })
  const placesOf = (label: string) => {
    const ids = new Set(byLabel.get(label)?.map(({ locationId }) => locationId))
    const isForFuture = ids.delete(null)
    if (isForFuture && ids.size === locations.length) return 'all locations'
    const [only] = ids.size === 1 ? locations.filter(({ id }) => ids.has(id)) : []
    const now = only ? marked(only.name) : `${ids.size} locations`
    if (!isForFuture) return now
    return ids.size === 0 ? 'locations of the future' : `${now} and locations of the future`
  }
  const byPlaces = Map.groupBy(byLabel.keys(), placesOf)
  return ours([...byPlaces].map(([where, labels]) => `${inWords.format(labels)} at ${where}`).join('; ') || 'nothing')
}

function marked(name: string): string {
  return about`${name}`.stored
}

const inWords = new Intl.ListFormat('en', { type: 'conjunction' })
/** What an access is for and its end, for the history: ` Purpose: Recall. Ends: 2027-01-01T05:00Z.`; nothing where neither is said. */
function describeTerms({ purpose, endsAt }: Terms): Subject {
  const end = endsAt && `${endsAt.toISOString().slice(0, 16)}Z`
  return joined([...(purpose ? [about` Purpose: ${purpose}.`] : []), ...(end ? [ours(` Ends: ${end}.`)] : [])], '')
}
