import { createHash } from 'node:crypto'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'

/** One dataset of one location; `locationId` null: of every location of the organization, with every future one. */
export type Grant = { readonly locationId: LocationId | null; readonly dataset: DatasetName }

/** All that one organization grants one company, in any order. */
export type Access = readonly Grant[]

/** The same access with each grant once, and none of a location for what is granted at every location. */
export function normalized(access: Access): Access {
  const everywhere = datasetsEverywhere(access)
  const needed = access.filter(({ locationId, dataset }) => locationId === null || !everywhere.includes(dataset))
  return [...new Map(needed.map((grant) => [keyOf(grant), grant])).values()]
}

/** The grants of `access` that `other` lacks. */
export function without<T extends Grant>(access: readonly T[], other: Access): T[] {
  const keys = new Set(other.map(keyOf))
  return access.filter((grant) => !keys.has(keyOf(grant)))
}

/** The datasets that are granted at every location, with every future one, in the contract's order. */
export function datasetsEverywhere(access: Access): DatasetName[] {
  const names = new Set(access.filter(({ locationId }) => locationId === null).map(({ dataset }) => dataset))
  return datasetNames.filter((name) => names.has(name))
}

/** What may be read at each of these locations, in the contract's order. */
export function datasetsByLocation(
  access: Access,
  locationIds: readonly LocationId[],
): ReadonlyMap<LocationId, readonly DatasetName[]> {
  const everywhere = datasetsEverywhere(access)
  const single = Map.groupBy(access, ({ locationId }) => locationId)
  return new Map(
    locationIds.map((id) => {
      const names = new Set([...everywhere, ...(single.get(id) ?? []).map(({ dataset }) => dataset)])
      return [id, datasetNames.filter((name) => names.has(name))]
    }),
  )
}

/** The same access as grants of these locations alone: what may be read today. */
export function atEachLocation(access: Access, locationIds: readonly LocationId[]): Access {
  return [...datasetsByLocation(access, locationIds)].flatMap(([locationId, names]) =>
    names.map((dataset) => ({ locationId, dataset })),
  )
}

/**
 * Names an access as it stands at these locations, so that a change can say what it is based on. Another one has another version; so has
 * the same one once a new location was granted with all the others.
 */
export function versionOf(access: Access, locationIds: readonly LocationId[]): string {
  const today = atEachLocation(access, locationIds).map(keyOf).sort()
  return createHash('sha256')
    .update(JSON.stringify([datasetsEverywhere(access), today]))
    .digest('base64url')
}

function keyOf({ locationId, dataset }: Grant): string {
  return `${locationId ?? 'all'} ${dataset}`
}
