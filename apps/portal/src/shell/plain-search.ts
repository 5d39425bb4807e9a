/** An address shows `?search=a+b` as it was typed; the router's own way would write and read JSON there. */
export const plainSearch = {
  parseSearch: (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search: Record<string, unknown>): string => {
    const entries = Object.entries(search).flatMap(([name, value]) =>
      value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
    )
    return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`
  },
}

/** A parameter of the address that may be any text, or undefined where there is none. */
export function textOf(search: Record<string, unknown>, name: string): string | undefined {
  const value = search[name]
  return typeof value === 'string' && value !== '' ? value.slice(0, 100) : undefined
}

/** A parameter of the address that is one of these; anything else counts as absent. */
export function oneOf<T extends string>(
  search: Record<string, unknown>,
  name: string,
  values: readonly T[],
): T | undefined {
  return values.find((value) => value === search[name])
}
