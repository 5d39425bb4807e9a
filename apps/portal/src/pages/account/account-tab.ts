export const accountTabs = ['profile', 'security', 'sessions', 'activity'] as const
export type AccountTab = (typeof accountTabs)[number]

/** What the account page's address may hold. */
export function accountSearch({ tab }: Record<string, unknown>): { tab?: AccountTab } {
  const found = accountTabs.find((known) => known === tab)
  return found && found !== 'profile' ? { tab: found } : {}
}
