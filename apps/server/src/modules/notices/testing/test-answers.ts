import type { Queryable } from '../../../platform/database/queryable.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import { durationsLength } from '../../usage/durations.ts'
import { addRequests, type StoredRequest } from '../../usage/request-log.ts'
import { addUsage } from '../../usage/store.ts'

/** So many requests of the company were answered with this status (429, or one of a failed authentication) then. */
export async function answerRequests(
  db: Queryable,
  companyId: CompanyId,
  { status, count, at }: { status: number; count: number; at: Date },
): Promise<void> {
  const durations = Array.from({ length: durationsLength }, () => 0)
  const throttled = status === 429 ? count : 0
  await addUsage(db, [{ companyId, bucketAt: at, requests: count, records: 0, throttled, errors: 0, durations }])
  const request: StoredRequest = {
    companyId,
    answeredAt: at,
    requestId: 'r',
    method: 'GET',
    route: '/locations',
    locationId: null,
    keyPairId: null,
    outcome: status === 429 ? 'throttled' : 'unauthenticated',
    status,
    code: null,
    because: null,
    parameter: null,
    rule: null,
    records: 0,
    durationMs: 1,
  }
  await addRequests(
    db,
    Array.from({ length: count }, () => request),
  )
}
