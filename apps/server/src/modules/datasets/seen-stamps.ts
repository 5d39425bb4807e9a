import type { DatasetName } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'
import type { Stamp } from './stamp.ts'

/**
 * The last stamps that this process has seen, of its writes and of its permits. They only say which statement a delta most likely needs, so nothing
 * may rest on them: another process may have written since.
 */
const seen = new BoundedMap<LocationId, Map<DatasetName, Stamp>>(5_000)

export function noteStamp(locationId: LocationId, dataset: DatasetName, stamp: Stamp): void {
  const known = seen.get(locationId)
  if (known) known.set(dataset, stamp)
  else seen.set(locationId, new Map([[dataset, stamp]]))
}

/** Whether this process has seen a later stamp of the dataset. */
export function wasSeenAfter(locationId: LocationId, dataset: DatasetName, stamp: Stamp): boolean {
  return (seen.get(locationId)?.get(dataset) ?? 0) > stamp
}
