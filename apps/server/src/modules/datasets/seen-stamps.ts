import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'
import type { Stamp } from './stamp.ts'

/**
 * The last stamps that this process has seen, of uploads and of permits. They only say which statement a delta most likely needs, so nothing may rest
 * on them: another process may have written since.
 */
export type SeenStamps = {
  note: (locationId: LocationId, dataset: DatasetName, stamp: Stamp) => void
  /** Whether a later stamp of the dataset was seen, or of one that shares its place. */
  hasAfter: (locationId: LocationId, dataset: DatasetName, stamp: Stamp) => boolean
}

/**
 * A table of a fixed size, 16 MB of which the system gives what is written to: a vendor's round over 200,000 locations finds what the last round noted,
 * where a list of the latest would have forgotten each before it comes again. Of datasets that share a place the later note is kept: the other's delta may cost
 * one more statement.
 */
export function createSeenStamps(placesBits = 21): SeenStamps {
  const stamps = new Float64Array(2 ** placesBits)
  const placeOf = (locationId: LocationId, dataset: DatasetName): number => {
    const id = Number(locationId)
    let hash = Math.imul(
      (id ^ Math.floor(id / 2 ** 32)) + Math.imul(numberOf.get(dataset) ?? 0, 0x85ebca6b),
      0x9e3779b1,
    )
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35)
    return (hash ^ (hash >>> 13)) >>> (32 - placesBits)
  }
  return {
    note(locationId, dataset, stamp) {
      stamps[placeOf(locationId, dataset)] = stamp
    },
    hasAfter: (locationId, dataset, stamp) => (stamps[placeOf(locationId, dataset)] ?? 0) > stamp,
  }
}

const numberOf: ReadonlyMap<DatasetName, number> = new Map(datasetNames.map((name, index) => [name, index]))
