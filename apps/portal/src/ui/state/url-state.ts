import { acceptedFilters, type SortedList, sortColumns } from '@bridgework/contract/portal'
import { useNavigate, useRouterState } from '@tanstack/react-router'

/** What every list keeps in its address. Use it in a route's validateSearch: `validateSearch: (search) => ({ ...listSearch(search), … })`. */
export type ListSearch = { search?: string; page?: number }

export function listSearch(search: Record<string, unknown>): ListSearch {
  const page = Number(search.page)
  // The router reads ?search=42 as a number.
  const text = search.search === undefined ? '' : String(search.search).slice(0, 100)
  return { ...(text && { search: text }), ...(Number.isInteger(page) && page > 1 && { page }) }
}

/** The list's part of a route's query for the server. */
export function listQuery({ search, page }: ListSearch): { search: string | undefined; page: string | undefined } {
  return acceptedFilters({ search, page: page === undefined ? undefined : String(page) })
}

/** A list that the server sorts: by a column, `-` before it for descending. */
export type SortedSearch = ListSearch & { sort?: string }

export function sortedSearch(search: Record<string, unknown>): SortedSearch {
  const sort = String(search.sort ?? '')
  return { ...listSearch(search), ...(/^-?[a-z_]{1,30}$/.test(sort) && { sort }) }
}

/** A sorted list's part of a route's query for the server. A column that it does not have counts as none. */
export function sortedQuery(list: SortedList, search: SortedSearch) {
  const isKnown = (sortColumns[list] as readonly string[]).includes(search.sort?.replace(/^-/, '') ?? '')
  return { ...listQuery(search), sort: isKnown ? search.sort : undefined }
}

/** The page's state as its address has it, and a way to change parts of it (undefined takes one away) without leaving the page. */
export function useUrlState<T extends object>(): [T, (change: Partial<Record<keyof T, unknown>>) => void] {
  // The deepest route's search has those of its parents in it.
  const state: unknown = useRouterState({ select: ({ matches }) => matches.at(-1)?.search })
  const navigate = useNavigate()
  const change = (part: Partial<Record<keyof T, unknown>>) =>
    void navigate({
      to: '.',
      replace: true,
      resetScroll: false,
      search: ((old: object) => ({ ...old, ...part })) as never,
    })
  return [state as T, change]
}
