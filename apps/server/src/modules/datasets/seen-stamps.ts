import type { DatasetName } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'
import type { Stamp } from './stamp.ts'

/**
 * The last stamps that this process has seen, of uploads and of permits. They only say which statement a delta most likely needs, so nothing may rest
 * on them: another process may have written since.
 */
export type SeenStamps = {
  note: (locationId: LocationId, dataset: DatasetName, stamp: Stamp) => void
  /** Whether a later stamp of the dataset was seen. */
  hasAfter: (locationId: LocationId, dataset: DatasetName, stamp: Stamp) => boolean
}

export function createSeenStamps(): SeenStamps {
  const seen = new BoundedMap<LocationId, Map<DatasetName, Stamp>>(5_000)
  return {
    note(locationId, dataset, stamp) {
      const known = seen.get(locationId)
      if (known) known.set(dataset, stamp)
      else seen.set(locationId, new Map([[dataset, stamp]]))
    },
    hasAfter: (locationId, dataset, stamp) => (seen.get(locationId)?.get(dataset) ?? 0) > stamp,
  }
}
