import { read } from '../../api/query.ts'
import { queryClient } from '../../api/query-client.ts'
import type { ListSearch } from '../../ui/state/url-state.ts'

/** How many notices are not read, which the bell shows. */
export function unreadQuery(tenant_id: string) {
  return read('countUnreadNotices', { params: { tenant_id } }, { everyMs: 60_000 })
}

/** Reads it beside the page, which must not wait for it or fail with it. */
export async function loadUnread(tenant_id: string): Promise<void> {
  await queryClient.prefetchQuery(unreadQuery(tenant_id))
}

/** All that the page of a tenant's notices reads. */
export function noticesQueries(tenant_id: string, { page }: ListSearch) {
  const query = { page: page === undefined ? undefined : String(page) }
  return [read('listNotices', { params: { tenant_id }, query }), read('listNoticeSettings')] as const
}
