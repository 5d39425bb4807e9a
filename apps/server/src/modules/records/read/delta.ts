import type { Pool } from 'pg'
import { Problem } from '../../../platform/errors/problem.ts'
import { findEpoch } from '../../agents/epoch.ts'
import type { ReadPermit } from '../../consent/read-permit.ts'
import { deltaOverlapMicros, type Stamp } from '../../datasets/stamp.ts'

/** What a list request asks of a dataset, after its moment was held against the dataset's stamps and the company's grant. */
export type DeltaScope = {
  syncType: 'initial' | 'incremental'
  /** Only records modified after this stamp; null: all. */
  modifiedAfter: Stamp | null
  /** Nothing was modified since: the answer is known without reading a record. */
  isEmpty: boolean
  /** The whole dataset is returned because it was granted after the moment asked for. */
  isWholeBecauseGranted: boolean
}

/** The moment of a delta, and the epoch that the caller says it is of; null: none. */
export type Since = { moment: Stamp | null; epoch: string | null }

/**
 * The scope of a request whose q[fetch_modified_since] is `since.moment` (null: none). A moment, less the overlap, before the dataset's first stamp
 * or the company's grant asks for everything: what was not granted then may have changed any time before. So does one of another epoch.
 */
export function scopeOf(permit: ReadPermit, since: Since): DeltaScope {
  const whole = { syncType: 'initial', modifiedAfter: null, isEmpty: permit.state.total === 0 } as const
  if (since.moment === null) return { ...whole, isWholeBecauseGranted: false }
  const modifiedAfter = since.moment - deltaOverlapMicros
  if (modifiedAfter < permit.grantedStamp) return { ...whole, isWholeBecauseGranted: true }
  if (modifiedAfter < permit.state.firstStamp || isOfAnotherEpoch(permit, since))
    return { ...whole, isWholeBecauseGranted: false }
  return {
    syncType: 'incremental',
    modifiedAfter,
    isEmpty: permit.state.lastStamp <= modifiedAfter,
    isWholeBecauseGranted: false,
  }
}

/** The latest moment that a delta may start from: later ones come from a clock that is wrong, and would miss changes. */
export function latestMoment(permit: ReadPermit): Stamp {
  return Math.max(permit.state.lastStamp, permit.databaseNow) + deltaOverlapMicros
}

/** When the database was restored, where that makes a delta the whole dataset; null otherwise. Asked for whole ones alone. */
export async function findRestoredAt(pool: Pool, permit: ReadPermit, since: Since): Promise<Date | null> {
  if (since.moment === null) return null
  const epoch = await findEpoch(pool, permit.epoch)
  if (!epoch) throw new Error('the epoch of a permit is unknown')
  const isOlder = since.moment - deltaOverlapMicros < epoch.stamp
  return isOlder || isOfAnotherEpoch(permit, since) ? epoch.beganAt : null
}

/**
 * Refuses a moment of this epoch that lies ahead of the dataset's last change, with `restore_unmarked`: only this service gives moments of its
 * epoch, so the database has lost something and has not begun another one. A moment without an epoch may be of the caller's own clock.
 */
export function refuseLost(permit: ReadPermit, { moment, epoch }: Since): void {
  if (moment === null || epoch !== permit.epoch || moment - deltaOverlapMicros <= permit.state.lastStamp) return
  throw new Problem('restore_unmarked', { retryAfterSeconds: 300, because: 'a watermark ahead of the last stamp' })
}

/** Whether the caller names another epoch than this one. */
export function isOfAnotherEpoch(permit: ReadPermit, { epoch }: Since): boolean {
  return epoch !== null && epoch !== permit.epoch
}
