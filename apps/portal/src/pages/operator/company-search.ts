import { oneOf } from '../../shell/plain-search.ts'
import { type SortedSearch, sortedQuery, sortedSearch } from '../../ui/url-state.ts'

export const companyStates = ['active', 'suspended', 'closed'] as const

type CompanySearch = SortedSearch & { state?: (typeof companyStates)[number] | undefined }

/** The address of the list of companies: search, page and one state. */
export function companySearch(search: Record<string, unknown>): CompanySearch {
  return { ...sortedSearch(search), state: oneOf(search, 'state', companyStates) }
}

export function companyQuery(search: CompanySearch) {
  return { ...sortedQuery(search), state: search.state }
}
