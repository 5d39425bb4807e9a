import { listSearch } from '../../ui/url-state.ts'

export const accountTabs = ['profile', 'security', 'sessions', 'activity'] as const
export type AccountTab = (typeof accountTabs)[number]

/** What the account page's address may hold. */
export type AccountSearch = { tab?: AccountTab; search?: string }

export function accountSearch(given: Record<string, unknown>): AccountSearch {
  const { search } = listSearch(given)
  const tab = accountTabs.find((known) => known === given.tab)
  return { ...(tab && tab !== 'profile' && { tab }), ...(search && { search }) }
}
