import type { Pool } from 'pg'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Stamp } from '../stamp.ts'

/** Puts the stamps of a location's datasets an hour ahead, as a clock does that is set right after it was ahead. Each next one is one more. */
export async function putStampsAhead(ownerPool: Pool, locationId: LocationId): Promise<Stamp> {
  const ahead = (Date.now() + 3_600_000) * 1000 + 7
  await ownerPool.query('update dataset_state set first_stamp = $2, last_stamp = $2 where location_id = $1', [
    locationId,
    ahead,
  ])
  return ahead
}
