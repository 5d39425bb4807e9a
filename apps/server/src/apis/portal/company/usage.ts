import { type ProblemCode, problems } from '@bridgework/contract'
import { type LoggedRequest, requestOutcomes } from '@bridgework/contract/portal'
import { clientIdsOf, listKeyPairs } from '../../../modules/credentials/key-pair.ts'
import { listRequests, type RequestFilter } from '../../../modules/usage/request-log.ts'
import { usageOf } from '../../../modules/usage/usage.ts'
import { type LocationId, parseNumericId } from '../../../platform/identity/identity.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { readBefore, readChoice, readInstant, readStatuses, readText } from '../shared/query.ts'

const pageSize = 50

/** How much a company asks of the vendor API, and each of its requests of the last 30 days. */
export const usageHandlers: PortalHandlers<'getUsage' | 'listRequests'> = {
  getUsage: ({ pool, now }, { member, query }) => {
    const range = readChoice(query, 'range', ['1h', '24h', '7d', '30d']) ?? '24h'
    return usageOf(pool, member.companyId, range, now())
  },

  listRequests: async ({ pool }, { member, query }) => {
    const { companyId } = member
    const outcome = readChoice(query, 'outcome', requestOutcomes)
    const clientId = readText(query, 'client_id')
    const location = readText(query, 'location_id')
    const filter: RequestFilter = {
      from: readInstant(query, 'since') ?? new Date(0),
      until: readInstant(query, 'until') ?? new Date('2200-01-01T00:00:00Z'),
      outcomes: outcome === null ? requestOutcomes : [outcome],
      statuses: readStatuses(query),
      code: readText(query, 'code'),
      route: readText(query, 'route'),
      locationId: location === null ? null : parseNumericId<LocationId>(location),
      keyPairId:
        clientId === null
          ? null
          : ((await listKeyPairs(pool, companyId)).find((pair) => pair.clientId === clientId)?.id ?? null),
      requestId: readText(query, 'request_id'),
    }
    const before = readBefore(query)
    // An id that is none of a location or of a pair of the company matches nothing.
    const isVain = (location !== null && filter.locationId === null) || (clientId !== null && filter.keyPairId === null)
    const found = isVain ? [] : await listRequests(pool, companyId, filter, { before, limit: pageSize + 1 })
    const page = found.slice(0, pageSize)
    const clientIds = await clientIdsOf(
      pool,
      page.flatMap(({ keyPairId }) => keyPairId ?? []),
    )
    const data = page.map(
      (each): LoggedRequest => ({
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
        meaning: each.code === null || !(each.code in problems) ? null : problems[each.code as ProblemCode].errors,
        because: each.because,
        records: each.records,
        duration_ms: Math.round(each.durationMs * 10) / 10,
      }),
    )
    return { data, next_before: found.length > pageSize ? (page.at(-1)?.id ?? null) : null }
  },
}
