import { follow } from '../../api/live.ts'
import { read } from '../../api/query.ts'
import { queryClient } from '../../api/query-client.ts'
import type { ListSearch } from '../../ui/state/url-state.ts'

/** How many notices are not read, which the bell shows. */
export function unreadQuery(tenant_id: string) {
  return read('countUnreadNotices', { params: { tenant_id } }, { everyMs: 60_000 })
}

/** Follows what changes for the tenant and reads its notices, beside the page, which must not wait for either or fail with them. `isPreloaded`: nobody is there yet. */
export async function loadFrame(tenant_id: string, isPreloaded: boolean): Promise<void> {
  if (!isPreloaded) follow(tenant_id)
  await queryClient.prefetchQuery(unreadQuery(tenant_id))
}

/** All that the page of a tenant's notices reads. */
export function noticesQueries(tenant_id: string, { page }: ListSearch) {
  const query = { page: page === undefined ? undefined : String(page) }
  return [read('listNotices', { params: { tenant_id }, query }), read('listNoticeSettings')] as const
}
