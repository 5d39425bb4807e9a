import type { Slot } from '../../../modules/throttle/sync-slots.ts'
import { widenTurn } from '../request-turn.ts'
import type { ListRequest } from './permit.ts'

/**
 * The slot in which a page is read. Null where nothing is left to read, because nothing changed or the records came with the permit: taking and
 * returning a slot at the same moment is asking whether there is one.
 */
export async function takeSlot(list: ListRequest): Promise<Slot | null> {
  const { context, request, permit, parameters, scope, read } = list
  if (scope.isEmpty || read) {
    const isCounted = (read !== null || scope.syncType === 'incremental') && (read?.waitedMs ?? 0) < countedForMs
    const inFlight = isCounted ? permit.locationsInFlight : undefined
    await context.slots.check(permit.companyId, scope.syncType, permit.locationId, inFlight)
    return null
  }
  if (parameters.since !== null) await widenTurn(context, request, Math.min(parameters.items, permit.state.total))
  return await acquireSlot(list)
}

export function acquireSlot({ context, permit, scope }: ListRequest): Promise<Slot> {
  return context.slots.acquire(permit.companyId, scope.syncType, permit.locationId)
}

/** What a permit says of requests in flight is believed for so long; a read that took longer asks again. */
const countedForMs = 100
