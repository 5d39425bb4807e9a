import { datasetNames } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'
import type { AccessFacts } from '../audit/facts.ts'
import { type Access, without } from './access.ts'

type Place = { id: LocationId; name: string }
type Terms = { purpose: string | null; endsAt: Date | null }

/** An access as the history keeps it. More locations than `namedMax` are only counted: the grants themselves have them all. */
export function accessFacts(access: Access, locations: readonly Place[], namedMax = 10): AccessFacts {
  return summarized(
    access.flatMap((grant) =>
      grant.locationId === null ? [grant, ...locations.map(({ id }) => ({ ...grant, locationId: id }))] : grant,
    ),
    locations,
    namedMax,
  )
}

/** What a change granted and removed, at today's locations and at those of the future. */
export function changeFacts(
  { before, after, opened, closed, terms }: Record<'before' | 'after' | 'opened' | 'closed', Access> & { terms: Terms },
  locations: readonly Place[],
) {
  const everywhere = (access: Access) => access.filter(({ locationId }) => locationId === null)
  return {
    before: accessFacts(before, locations),
    after: accessFacts(after, locations),
    granted: summarized([...opened, ...everywhere(without(after, before))], locations, 1, before),
    removed: summarized([...closed, ...everywhere(without(before, after))], locations, 1, after),
    purpose: terms.purpose,
    endsAt: terms.endsAt && `${terms.endsAt.toISOString().slice(0, 16)}Z`,
  }
}

/** `rest`: what may be read of the same places all the same. A grant of no location is one of those of the future. */
function summarized(access: Access, locations: readonly Place[], namedMax: number, rest: Access = []): AccessFacts {
  const readable = new Set(rest.map(({ dataset, locationId }) => `${dataset} ${locationId}`))
  const notesOf = ({ dataset, locationId, notes }: Access[number]) => {
    if (!notes) return 'none'
    return readable.has(`${dataset} ${null}`) || readable.has(`${dataset} ${locationId}`) ? 'alone' : 'with'
  }
  const placesOf = (ids: Set<LocationId | null>): Pick<AccessFacts[number], 'places' | 'future'> => {
    const future = ids.delete(null)
    if (future && ids.size === locations.length) return { places: 'all', future }
    const names = locations.filter(({ id }) => ids.has(id)).map(({ name }) => name)
    return { places: names.length > 0 && names.length <= namedMax ? names : names.length, future }
  }
  const parts = new Map<string, AccessFacts[number]>()
  for (const name of datasetNames) {
    const byNotes = Map.groupBy(
      access.filter(({ dataset }) => dataset === name),
      notesOf,
    )
    for (const [notes, grants] of byNotes) {
      const where = placesOf(new Set(grants.map(({ locationId }) => locationId)))
      const part = parts.get(JSON.stringify(where)) ?? { datasets: [], ...where }
      part.datasets.push({ name, notes })
      parts.set(JSON.stringify(where), part)
    }
  }
  return [...parts.values()]
}
