import { type ListSearch, useUrlState } from './url-state.ts'

/** Of a list that came whole, what the address searches for. Every word must be somewhere in the row's text, in any case. */
export function useFound<Row>(rows: readonly Row[], textOf: (row: Row) => string): Row[] {
  const [{ search = '' }] = useUrlState<ListSearch>()
  const words = search.toLowerCase().split(/\s+/)
  return rows.filter((row) => {
    const text = textOf(row).toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
