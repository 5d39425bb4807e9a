import { listSearch } from '../../ui/state/url-state.ts'

export const accountTabs = ['profile', 'security', 'notices', 'sessions', 'activity'] as const
export type AccountTab = (typeof accountTabs)[number]

/** What the account page's address may hold. */
export type AccountSearch = { tab?: AccountTab; search?: string }

export function accountSearch(raw: Record<string, unknown>): AccountSearch {
  const { search } = listSearch(raw)
  const tab = accountTabs.find((known) => known === raw.tab)
  return { ...(tab && tab !== 'profile' && { tab }), ...(search && { search }) }
}
