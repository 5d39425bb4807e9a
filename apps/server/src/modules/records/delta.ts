import type { ReadPermit } from '../consent/read-permit.ts'
import { deltaOverlapMicros, type Stamp } from '../datasets/stamp.ts'

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

/**
 * The scope of a request whose q[fetch_modified_since] is `since` (null: none). A moment, less the overlap, before the dataset's first stamp
 * or the company's grant asks for everything: what was not granted then may have changed any time before.
 */
export function scopeOf(permit: ReadPermit, since: Stamp | null): DeltaScope {
  const whole = { syncType: 'initial', modifiedAfter: null, isEmpty: permit.state.total === 0 } as const
  if (since === null) return { ...whole, isWholeBecauseGranted: false }
  const modifiedAfter = since - deltaOverlapMicros
  if (modifiedAfter < permit.grantedStamp) return { ...whole, isWholeBecauseGranted: true }
  if (modifiedAfter < permit.state.firstStamp) return { ...whole, isWholeBecauseGranted: false }
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
