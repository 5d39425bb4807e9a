/**
 * How many requests took how long: position 0 counts those of at most 1 ms, position i those of at most 1 ms × √2^i, the last one all that
 * were slower. Histograms of equal bounds are merged by adding them, over processes and over time.
 */
export type Durations = readonly number[]

/** 1 ms to 131 s: a longer request was cut off. The bounds are stored data: never change them. */
export const durationsLength = 35

/** Where a request of this duration is counted. */
export function positionOf(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.min(Math.ceil(Math.log2(durationMs) * 2), durationsLength - 1)
}

/** The sum of two histograms; an empty one is of no requests. */
export function addDurations(left: Durations, right: Durations): number[] {
  return Array.from({ length: durationsLength }, (_, index) => (left[index] ?? 0) + (right[index] ?? 0))
}

/**
 * How long the given share of the requests took at most, in milliseconds; null when there were none. Between the bounds of one position it is
 * interpolated, so it differs from the true value by a factor of at most √2, and mostly by a few percent.
 */
export function percentileMs(durations: Durations, share: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let rest = Math.max(1, Math.ceil(total * share))
  for (const [position, count] of durations.entries()) {
    if (rest <= count) return 2 ** ((position - 1 + rest / count) / 2)
    rest -= count
  }
  throw new Error('a share of more than all')
}
