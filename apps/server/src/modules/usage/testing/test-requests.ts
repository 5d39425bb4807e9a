import { requestOutcomes } from '@bridgework/contract/portal'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import { listRequests, type RequestFilter } from '../request-log.ts'

/** All requests of a company that pass the filter, the newest first. */
export function allOf(db: Queryable, companyId: CompanyId, filter: Partial<RequestFilter> = {}) {
  const none = { code: null, route: null, locationId: null, keyPairId: null, requestId: null }
  const all = {
    from: new Date(0),
    until: new Date('2200-01-01'),
    outcomes: requestOutcomes,
    statuses: [0, 999],
  } as const
  return listRequests(db, companyId, { ...none, ...all, ...filter }, { before: null, limit: 100_000 })
}
