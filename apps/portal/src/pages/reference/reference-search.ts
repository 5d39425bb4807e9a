/** What the address of the API reference may hold: the operation that is open. */
export type ReferenceSearch = { operation?: string }

export function referenceSearch({ operation }: Record<string, unknown>): ReferenceSearch {
  return typeof operation === 'string' && /^\w+$/.test(operation) ? { operation } : {}
}
