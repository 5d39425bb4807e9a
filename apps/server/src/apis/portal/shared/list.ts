import type { Listed } from '@bridgework/contract/portal'
import { type Query, readPageNumber, readSearch } from './query.ts'

/** Which part of a list is asked for. */
export type ListPage = { search: string; page: number; limit: number; offset: number }

const pageSize = 25

/** `search` and `page` of a list's query. Throws Problem parameter_invalid. */
export function readListPage(query: Query): ListPage {
  const page = readPageNumber(query)
  return { search: readSearch(query), page, limit: pageSize, offset: (page - 1) * pageSize }
}

/** A part of a list as it is answered. */
export function toListed<T>(page: ListPage, total: number, data: T[]): Listed<T> {
  return { data, total, page: page.page, page_size: pageSize }
}
