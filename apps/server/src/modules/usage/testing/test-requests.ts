import type { Queryable } from '../../../platform/database/queryable.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import { anyRequest, listRequests, type RequestFilter } from '../request-log.ts'

/** All requests of a company that pass the filter, the newest first. */
export function allOf(db: Queryable, companyId: CompanyId, filter: Partial<RequestFilter> = {}) {
  return listRequests(db, companyId, { ...anyRequest, ...filter }, { before: null, limit: 100_000 })
}
