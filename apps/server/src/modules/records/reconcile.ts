import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { deleteRemovalHold, hideBySourceIds, mustBeHeld, removalHeld, saveRemovalHold } from './removal-hold.ts'
import { takeTurn } from './turn.ts'
import { findMissing } from './upload-store.ts'

export type CompleteList = {
  locationId: LocationId
  dataset: DatasetName
  agentId: AgentId
  /** The number that the agent's next upload had when it began to read the list. */
  beganAtUpload: string
  sourceIds: readonly string[]
}

/**
 * Hides what a finished read no longer found; records received since it began are left alone. Too large a removal hides nothing, waits for a
 * person, and answers `removal_held`; the next list replaces it, and one that is not too large ends the wait.
 */
export async function reconcile(
  deps: { pool: Pool; now: () => Date; log: Log },
  list: CompleteList,
): Promise<{ hidden: number }> {
  const { locationId, dataset } = list
  const held = await takeTurn(deps.pool, locationId, dataset, async (turn) => {
    const now = deps.now()
    const missing = await findMissing(turn.client, list, list.sourceIds, now)
    const { visible } = turn.state(dataset)
    if (!mustBeHeld(missing.length, visible)) {
      await deleteRemovalHold(turn.client, locationId, dataset)
      return { isHeld: false, missing: await hideBySourceIds(turn, dataset, missing), visible }
    }
    const hold = { locationId, dataset, agentId: list.agentId, sourceIds: missing, visible, heldAt: now }
    await saveRemovalHold(turn.client, hold)
    return { isHeld: true, missing: missing.length, visible }
  })
  if (!held.isHeld) return { hidden: held.missing }
  deps.log({ event: 'removal.held', locationId, dataset, missing: held.missing, visible: held.visible })
  throw removalHeld(held.missing, held.visible)
}
