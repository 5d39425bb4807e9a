/** Keys from the first to the last, both included. */
export type KeyRange = readonly [first: bigint, last: bigint]

/** Keys beyond this were not counted up: offices that replicate draw them at random from the whole 64-bit range. */
const countedKeysMax = 1_000_000_000

/** Keys of one run among those that were drawn at random: the range of 64 bits has 4096 of them. */
const randomRunKeys = 2n ** 51n

/**
 * A run is a range of a column's values: `size` values that were counted up, or a 4096th of those that were drawn at random. Runs are
 * numbered in the order of the values.
 */
export function runExpression(column: string, size: number): string {
  return `if(${column} < ${countedKeysMax}, ${column} div ${size}, ${countedKeysMax} + ${column} div ${randomRunKeys})`
}

/** The run that a value is in. */
export function runOf(value: bigint, size: number): number {
  if (value < BigInt(countedKeysMax)) return Number(value / BigInt(size))
  return countedKeysMax + Number(value / randomRunKeys)
}

/** The values of a run. */
export function rangeOf(run: number, size: number): KeyRange {
  if (run < countedKeysMax) return [BigInt(run) * BigInt(size), BigInt(run + 1) * BigInt(size) - 1n]
  const first = BigInt(run - countedKeysMax) * randomRunKeys
  return [first === 0n ? BigInt(countedKeysMax) : first, first + randomRunKeys - 1n]
}

/** The run that is `count` runs further, but not from counted keys into random ones. */
export function runAfter(run: number, count: number, size: number): number {
  return run < countedKeysMax ? Math.min(run + count, countedKeysMax / size - 1) : run + count
}

export function isIn(ranges: readonly KeyRange[], key: string): boolean {
  const value = BigInt(key)
  return ranges.some(([first, last]) => value >= first && value <= last)
}

/** Condition that a column's value lies in one of the ranges. 0 names no row. */
export function inRanges(column: string, ranges: readonly KeyRange[]): string {
  return `(${ranges.map(([first, last]) => `${column} between ${first > 0n ? first : 1n} and ${last}`).join(' or ')})`
}
