import type { QueryState } from '@tanstack/react-query'

type Looked = Pick<
  QueryState<unknown, unknown>,
  'data' | 'dataUpdatedAt' | 'fetchFailureCount' | 'error' | 'fetchStatus'
>

/** One look that failed is made again within this time, and most often succeeds. */
const freshMs = 15_000

/** There is data, it is no longer fresh, and the last look at it failed or waits for a network. */
export function isOutdated(
  { data, dataUpdatedAt, fetchFailureCount, error, fetchStatus }: Looked,
  nowMs: number,
): boolean {
  const isStopped = fetchFailureCount > 0 || error !== null || fetchStatus === 'paused'
  return data !== undefined && isStopped && nowMs - dataUpdatedAt > freshMs
}
