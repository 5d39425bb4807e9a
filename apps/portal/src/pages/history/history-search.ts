import { type AuditKind, acceptedFilters, auditKinds } from '@bridgework/contract/portal'
import { oneOf, textOf } from '../../shell/plain-search.ts'
import { type ListSearch, listQuery, listSearch } from '../../ui/state/url-state.ts'

/** What a history's address has: `person`: a part of a name or an address; `from` and `to`: days, both included. */
export type HistorySearch = ListSearch & { [name in 'person' | 'kind' | 'from' | 'to']?: string | undefined }

export function historySearch(raw: Record<string, unknown>): HistorySearch {
  return {
    ...listSearch(raw),
    person: textOf(raw, 'person'),
    kind: oneOf(raw, 'kind', Object.keys(auditKinds) as AuditKind[]),
    from: textOf(raw, 'from'),
    to: textOf(raw, 'to'),
  }
}

/** The same as the query of a page, and as that of the file with all pages. */
export function historyQuery(search: HistorySearch) {
  const { person, kind, from, to } = search
  return acceptedFilters({ ...listQuery(search), person, kind, from, to })
}

export function historyFileQuery(search: HistorySearch) {
  return { ...historyQuery(search), page: undefined }
}

/** What a route of a history has. */
export const historyListed = {
  validateSearch: historySearch,
  loaderDeps: ({ search }: { search: HistorySearch }) => search,
}
