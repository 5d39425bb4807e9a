import type { Listed } from '@bridgework/contract/portal'
import { Problem } from '../../platform/errors/problem.ts'

/** Which part of a list is asked for. */
export type ListPage = { search: string; page: number; limit: number; offset: number }

const pageSize = 25
const searchLengthMax = 100

/** `search` and `page` of a list's query. Throws Problem parameter_invalid. */
export function readListPage(query: Record<string, string>): ListPage {
  const { search = '', page: text = '' } = query
  if (search.length > searchLengthMax || search.includes('\0')) {
    throw new Problem('parameter_invalid', {
      errors: `search must have at most ${searchLengthMax} characters, without NUL.`,
    })
  }
  const page = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1
  if (text !== '' && String(page) !== text) {
    throw new Problem('parameter_invalid', { errors: 'page must be a whole number from 1 to 999999.' })
  }
  return { search: search.trim(), page, limit: pageSize, offset: (page - 1) * pageSize }
}

/** A part of a list as it is answered. */
export function toListed<T>(page: ListPage, total: number, data: T[]): Listed<T> {
  return { data, total, page: page.page, page_size: pageSize }
}
