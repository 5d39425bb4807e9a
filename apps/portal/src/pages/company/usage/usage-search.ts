import type { UsageRange } from '@bridgework/contract/portal'
import { oneOf } from '../../../shell/plain-search.ts'

/** What the usage page's address holds. */
export type UsageSearch = { range?: UsageRange }

export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const range = oneOf(search, 'range', ['1h', '7d', '30d'])
  return range ? { range } : {}
}
