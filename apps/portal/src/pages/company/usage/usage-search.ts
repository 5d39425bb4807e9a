import { acceptedFilters, type RequestOutcome, type UsageRange } from '@bridgework/contract/portal'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { oneOf, textOf } from '../../../shell/plain-search.ts'

const outcomes = ['ok', 'throttled', 'error', 'unauthenticated'] as const satisfies readonly RequestOutcome[]

/** Filters that are text; `since` and `until` are instants. */
const texts = ['status', 'code', 'route', 'location_id', 'client_id', 'request_id', 'since', 'until'] as const

/** The filters of the request log. */
export type RequestFilter = { outcome?: RequestOutcome } & { [name in (typeof texts)[number]]?: string }

/** What the usage page's address holds. */
export type UsageSearch = RequestFilter & { range?: UsageRange }

export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const range = oneOf(search, 'range', ['1h', '7d', '30d'])
  const outcome = oneOf(search, 'outcome', outcomes)
  const given = texts.flatMap((name) => {
    const text = textOf(search, name)
    return text === undefined ? [] : [[name, text] as const]
  })
  return { ...(range && { range }), ...(outcome && { outcome }), ...Object.fromEntries(given) }
}

/** The filters among the parts of an address that the server accepts. */
export function filterOf(search: UsageSearch): RequestFilter {
  const { range: _, ...filter } = usageSearch({ ...search })
  return acceptedFilters(filter)
}

/** No filter at all, for an address that has some. */
export const noFilter = Object.fromEntries(['outcome', ...texts].map((name) => [name, undefined]))

/** A company's requests, newest first, as many pages as were asked for. */
export function requestsQuery(companyId: string, filter: RequestFilter) {
  return infiniteQueryOptions({
    queryKey: ['listRequests', companyId, filter],
    queryFn: ({ pageParam, signal, client, queryKey }) =>
      call('listRequests', {
        params: { company_id: companyId },
        query: { ...filter, before: pageParam },
        background: client.getQueryData(queryKey) !== undefined && pageParam === undefined,
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_before ?? undefined,
    refetchInterval: 60_000,
  })
}
