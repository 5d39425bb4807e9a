/** The address of the page: `undo` in the link that the old address gets. */
export type EmailChangeSearch = { undo?: true }

export function emailChangeSearch(search: Record<string, unknown>): EmailChangeSearch {
  return search.undo === true ? { undo: true } : {}
}
