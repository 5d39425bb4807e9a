import { createHash } from 'node:crypto'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'

/**
 * One dataset of one location, with the notes of its records or without; `locationId` null: of every location of the organization, with every
 * future one.
 */
export type Grant = { readonly locationId: LocationId | null; readonly dataset: DatasetName; readonly notes: boolean }

/** All that one organization grants one company, in any order. A grant of less beside one of more takes nothing away. */
export type Access = readonly Grant[]

/** The same access with each grant once, and none of a location for what is granted at every location. */
export function normalized(access: Access): Access {
  const everywhere = new Map<DatasetName, boolean>()
  const byPlace = new Map<string, Grant>()
  for (const { locationId, dataset, notes } of access) {
    if (locationId === null) everywhere.set(dataset, notes || everywhere.get(dataset) === true)
  }
  for (const grant of access) {
    const { locationId, dataset, notes } = grant
    const covering = locationId === null ? undefined : everywhere.get(dataset)
    if (covering === true || covering === notes) continue
    const place = placeOf(grant)
    byPlace.set(place, { locationId, dataset, notes: notes || byPlace.get(place)?.notes === true })
  }
  return [...byPlace.values()]
}

/** The grants of `access` that `other` lacks, with or without notes as they are. */
export function without<T extends Grant>(access: readonly T[], other: Access): T[] {
  const keys = new Set(other.map(keyOf))
  return access.filter((grant) => !keys.has(keyOf(grant)))
}

/** The grants of `access` that let read more than `other` does at the same place: the dataset, or its notes. */
export function beyond(access: Access, other: Access): Access {
  return without(
    access,
    other.flatMap((grant) => [grant, { ...grant, notes: false }]),
  )
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
  const byLocation = Map.groupBy(atEachLocation(access, locationIds), ({ locationId }) => locationId)
  return new Map(locationIds.map((id) => [id, (byLocation.get(id) ?? []).map(({ dataset }) => dataset)]))
}

/** The same access as grants of these locations alone: what may be read today, in the contract's order. */
export function atEachLocation(access: Access, locationIds: readonly LocationId[]): Access {
  const byLocation = Map.groupBy(access, ({ locationId }) => locationId)
  const everywhere = byLocation.get(null) ?? []
  return locationIds.flatMap((locationId) => {
    const own = [...everywhere, ...(byLocation.get(locationId) ?? [])]
    const names = new Set(own.map(({ dataset }) => dataset))
    const withNotes = new Set(own.filter(({ notes }) => notes).map(({ dataset }) => dataset))
    return datasetNames
      .filter((name) => names.has(name))
      .map((dataset) => ({ locationId, dataset, notes: withNotes.has(dataset) }))
  })
}

/**
 * Names an access as it stands at these locations, so that a change can say what it is based on. Another one has another version; so has
 * the same one once a new location was granted with all the others.
 */
export function versionOf(access: Access, locationIds: readonly LocationId[]): string {
  const everywhere = normalized(access)
    .filter(({ locationId }) => locationId === null)
    .map(keyOf)
    .sort()
  const today = atEachLocation(access, locationIds).map(keyOf).sort()
  return createHash('sha256')
    .update(JSON.stringify([everywhere, today]))
    .digest('base64url')
}

function placeOf({ locationId, dataset }: Grant): string {
  return `${locationId ?? 'all'} ${dataset}`
}

function keyOf(grant: Grant): string {
  return `${placeOf(grant)}${grant.notes ? ' with notes' : ''}`
}
