/**
 * Keys as an SQL list of numbers. Not as quoted parameters: a bigint compared with text is compared as double, which
 * confuses neighbours above 2^53 and leaves the index.
 */
export function keyList(keys: readonly string[]): string {
  return keys.map(literal).join(',')
}

function literal(key: string): string {
  if (!/^-?\d{1,20}$/.test(key)) throw new Error('A key of Open Dental is a whole number')
  return key
}

/** Slices of at most `size`, in order. */
export function* slices<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

export function keyAscending(left: string, right: string): number {
  if (left === right) return 0
  return BigInt(left) < BigInt(right) ? -1 : 1
}
