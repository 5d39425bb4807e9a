import { acceptedFilters } from '@bridgework/contract/portal'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { isBackground } from '../../../api/query.ts'
import { textOf } from '../../../shell/plain-search.ts'

const names = ['company_id', 'location_id', 'dataset', 'from', 'to'] as const

/** The filters of disclosures; `from` and `to` are days of the practice. */
export type DisclosureFilter = { [name in (typeof names)[number]]?: string | undefined }

export function disclosureSearch(raw: Record<string, unknown>): DisclosureFilter {
  return Object.fromEntries(names.map((name) => [name, textOf(raw, name)]))
}

/** The filters of an address that the server accepts. An address may have other parameters, which the server would refuse. */
export function acceptedDisclosureFilter(search: DisclosureFilter): DisclosureFilter {
  return acceptedFilters(disclosureSearch({ ...search }))
}

/** Disclosures, newest first, as many pages as were asked for. */
export function disclosuresQuery(organizationId: string, filter: DisclosureFilter) {
  return infiniteQueryOptions({
    queryKey: ['listDisclosures', organizationId, filter],
    queryFn: ({ pageParam, signal, client, queryKey }) =>
      call('listDisclosures', {
        params: { organization_id: organizationId },
        query: { ...filter, before: pageParam },
        background: isBackground(client.getQueryState(queryKey), false),
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_before ?? undefined,
  })
}

/** Reads by day and vendor, the newest days first, as many pages as were asked for. */
export function disclosureDaysQuery(organizationId: string, filter: DisclosureFilter) {
  return infiniteQueryOptions({
    queryKey: ['listDisclosureDays', organizationId, filter],
    queryFn: ({ pageParam, signal }) =>
      call('listDisclosureDays', {
        params: { organization_id: organizationId },
        query: { ...filter, to: pageParam ?? filter.to },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_to ?? undefined,
  })
}
