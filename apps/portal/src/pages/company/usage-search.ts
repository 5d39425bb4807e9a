import type { RecentRequest, UsageRange } from '@bridgework/contract/portal'
import { oneOf, textOf } from '../../shell/plain-search.ts'

export const outcomes = ['all', 'ok', 'throttled', 'error'] as const
export type Outcome = (typeof outcomes)[number]

/** What the usage page's address holds. */
export type UsageSearch = { range?: UsageRange; search?: string; outcome?: Outcome }

export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const range = oneOf(search, 'range', ['7d', '30d'])
  const outcome = oneOf(search, 'outcome', ['ok', 'throttled', 'error'])
  const text = textOf(search, 'search')
  return { ...(range && { range }), ...(text && { search: text }), ...(outcome && { outcome }) }
}

/** As the usage figures count: a 429 is a rate limit and not an error. */
export function outcomeOf({ status }: Pick<RecentRequest, 'status'>): Exclude<Outcome, 'all'> {
  if (status === 429) return 'throttled'
  return status >= 400 ? 'error' : 'ok'
}
