import type { PlotRange } from '@bridgework/contract/portal'
import { oneOf } from '../../shell/plain-search.ts'
import { type SortedSearch, sortedSearch } from '../../ui/state/url-state.ts'

/** What the address of a page with plots holds: the range; without one, a day. */
export type PlotSearch = { range?: PlotRange }

export function plotSearch(search: Record<string, unknown>): PlotSearch {
  const range = oneOf(search, 'range', ['7d', '30d'])
  return range ? { range } : {}
}

/** What the address of a page with plots and a table holds. */
export function sortedPlotSearch(search: Record<string, unknown>): PlotSearch & SortedSearch {
  return { ...plotSearch(search), ...tableSearch(search) }
}

/** What the address of a page with tables holds that the browser sorts. */
export function tableSearch(search: Record<string, unknown>): SortedSearch {
  const { sort } = sortedSearch(search)
  return sort ? { sort } : {}
}

/** What the address of the page of the service holds; without a range, an hour. */
export type ServiceSearch = { range?: '24h' | '7d' }

export function serviceSearch(search: Record<string, unknown>): ServiceSearch {
  const range = oneOf(search, 'range', ['24h', '7d'])
  return range ? { range } : {}
}
