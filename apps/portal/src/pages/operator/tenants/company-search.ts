import { oneOf } from '../../../shell/plain-search.ts'
import { type SortedSearch, sortedQuery, sortedSearch } from '../../../ui/state/url-state.ts'

export const companyStates = ['active', 'suspended', 'closed'] as const

const verifiedChoices = ['yes', 'no'] as const

type CompanySearch = SortedSearch & {
  state?: (typeof companyStates)[number] | undefined
  verified?: (typeof verifiedChoices)[number] | undefined
}

/** The address of the list of companies: search, page, one state, verified or not. */
export function companySearch(search: Record<string, unknown>): CompanySearch {
  return {
    ...sortedSearch(search),
    state: oneOf(search, 'state', companyStates),
    verified: oneOf(search, 'verified', verifiedChoices),
  }
}

export function companyQuery(search: CompanySearch) {
  return { ...sortedQuery('companies', search), state: search.state, verified: search.verified }
}
