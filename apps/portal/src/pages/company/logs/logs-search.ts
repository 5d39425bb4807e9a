import { acceptedFilters, type RequestOutcome, requestOutcomes } from '@bridgework/contract/portal'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { isBackground, read } from '../../../api/query.ts'
import { oneOf, textOf } from '../../../shell/plain-search.ts'

/** Filters that are text; `since` and `until` are instants. */
const texts = [
  ...(['status', 'code', 'route', 'parameter', 'rule', 'organization_id', 'location_id'] as const),
  ...(['client_id', 'request_id', 'since', 'until'] as const),
] as const

/** The filters of the request log. */
export type RequestFilter = { outcome?: RequestOutcome } & { [name in (typeof texts)[number]]?: string }

/** What the address of the logs holds. Without `view`: each request. */
export type LogsSearch = RequestFilter & { view?: 'errors' }

export function logsSearch(search: Record<string, unknown>): LogsSearch {
  const view = oneOf(search, 'view', ['errors'])
  const outcome = oneOf(search, 'outcome', requestOutcomes)
  const given = texts.flatMap((name) => {
    const text = textOf(search, name)
    return text === undefined ? [] : [[name, text] as const]
  })
  return { ...(view && { view }), ...(outcome && { outcome }), ...Object.fromEntries(given) }
}

/** The filters among the parts of an address that the server accepts. */
export function filterOf(search: LogsSearch): RequestFilter {
  const { view: _, ...filter } = logsSearch({ ...search })
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
        background: isBackground(client.getQueryState(queryKey), pageParam === undefined),
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_before ?? undefined,
    refetchInterval: 60_000,
  })
}

/** The errors among them, grouped. */
export function errorsQuery(companyId: string, { outcome: _, ...filter }: RequestFilter) {
  return read('listRequestErrors', { params: { company_id: companyId }, query: filter }, { everyMs: 60_000 })
}
