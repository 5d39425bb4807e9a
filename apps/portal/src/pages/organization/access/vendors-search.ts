import { oneOf } from '../../../shell/plain-search.ts'
import { type ListSearch, listQuery, listSearch } from '../../../ui/state/url-state.ts'

/** `show`: the verified vendors without access, to choose from; without it, those that have or had access. */
export type VendorsSearch = ListSearch & { show?: 'verified' }

export function vendorsSearch(search: Record<string, unknown>): VendorsSearch {
  const show = oneOf(search, 'show', ['verified'] as const)
  return { ...listSearch(search), ...(show && { show }) }
}

/** The query for the server. */
export function vendorsQuery(search: VendorsSearch) {
  return { ...listQuery(search), show: search.show }
}
