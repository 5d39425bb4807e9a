import { type ParameterRule, type ProblemCode, parameterRules, problems } from '@bridgework/contract'
import { type LoggedRequest, requestOutcomes } from '@bridgework/contract/portal'
import { clientIdsOf, listKeyPairs } from '../../../modules/credentials/key-pair.ts'
import { grantedLocationIds } from '../../../modules/overview/connection.ts'
import {
  anyRequest,
  groupErrors,
  listRequests,
  type RequestFilter,
  type StoredRequest,
} from '../../../modules/usage/request-log.ts'
import { usageOf } from '../../../modules/usage/usage.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import {
  type CompanyId,
  type LocationId,
  type OrganizationId,
  parseNumericId,
} from '../../../platform/identity/identity.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { type Query, readBefore, readChoice, readInstant, readStatuses, readText } from '../shared/query.ts'

const pageSize = 50

/** How much a company asks of the vendor API, and each of its requests of the last 30 days. */
export const usageHandlers: PortalHandlers<'getUsage' | 'listRequests' | 'listRequestErrors'> = {
  getUsage: ({ pool, now }, { member, query }) => {
    const range = readChoice(query, 'range', ['1h', '24h', '7d', '30d']) ?? '24h'
    return usageOf(pool, member.companyId, range, now())
  },

  listRequests: async ({ pool }, { member: { companyId }, query }) => {
    const outcome = readChoice(query, 'outcome', requestOutcomes)
    const before = readBefore(query)
    const filter = await readFilter(pool, companyId, query)
    const outcomes = outcome === null ? requestOutcomes : [outcome]
    const found = await listRequests(pool, companyId, { ...filter, outcomes }, { before, limit: pageSize + 1 })
    const page = found.slice(0, pageSize)
    return {
      data: await toLoggedRequests(pool, page),
      next_before: found.length > pageSize ? (page.at(-1)?.id ?? null) : null,
    }
  },

  listRequestErrors: async ({ pool }, { member: { companyId }, query }) => {
    const groups = await groupErrors(pool, companyId, await readFilter(pool, companyId, query))
    const data = groups.map(({ firstAt, lastAt, ...group }) => ({
      ...group,
      ...meaningsOf(group),
      first_at: firstAt.toISOString(),
      last_at: lastAt.toISOString(),
    }))
    return { data }
  },
}

/** The filter of a query, for requests of any outcome. An id that is none of the company's, or none at all, matches nothing. */
async function readFilter(db: Queryable, companyId: CompanyId, query: Query): Promise<RequestFilter> {
  const clientId = readText(query, 'client_id')
  const pairs = clientId === null ? [] : await listKeyPairs(db, companyId)
  const keyPairId = pairs.find((pair) => pair.clientId === clientId)?.id ?? null
  return {
    ...anyRequest,
    from: readInstant(query, 'since') ?? anyRequest.from,
    until: readInstant(query, 'until') ?? anyRequest.until,
    statuses: readStatuses(query),
    code: readText(query, 'code'),
    route: readText(query, 'route'),
    parameter: readText(query, 'parameter'),
    rule: readText(query, 'rule'),
    locationIds: clientId !== null && keyPairId === null ? [] : await readLocations(db, companyId, query),
    keyPairId,
    requestId: readText(query, 'request_id'),
  }
}

/** The location that is asked for, those of a practice, or those that are both; null: any. */
async function readLocations(db: Queryable, companyId: CompanyId, query: Query): Promise<LocationId[] | null> {
  const [location, organization] = [readText(query, 'location_id'), readText(query, 'organization_id')]
  const locationId = location === null ? null : parseNumericId<LocationId>(location)
  const named = locationId === null ? [] : [locationId]
  if (organization === null) return location === null ? null : named
  const organizationId = parseNumericId<OrganizationId>(organization)
  const granted = organizationId === null ? [] : await grantedLocationIds(db, companyId, organizationId)
  return location === null ? granted : named.filter((id) => granted.includes(id))
}

/** Requests of the log as they are answered. */
export async function toLoggedRequests(
  db: Queryable,
  requests: readonly (StoredRequest & { id: string })[],
): Promise<LoggedRequest[]> {
  const clientIds = await clientIdsOf(
    db,
    requests.flatMap(({ keyPairId }) => keyPairId ?? []),
  )
  return requests.map((each) => ({
    id: each.id,
    answered_at: each.answeredAt.toISOString(),
    request_id: each.requestId,
    method: each.method,
    route: each.route,
    location_id: each.locationId,
    client_id: (each.keyPairId && clientIds.get(each.keyPairId)) ?? null,
    outcome: each.outcome,
    status: each.status,
    code: each.code,
    because: each.because,
    parameter: each.parameter,
    rule: each.rule,
    ...meaningsOf(each),
    records: each.records,
    duration_ms: Math.round(each.durationMs * 10) / 10,
  }))
}

/** What a code and a rule say; null for those of another release. */
function meaningsOf({ code, rule }: Pick<StoredRequest, 'code' | 'rule'>) {
  return {
    meaning: code !== null && code in problems ? problems[code as ProblemCode].errors : null,
    rule_meaning: rule !== null && rule in parameterRules ? parameterRules[rule as ParameterRule] : null,
  }
}
