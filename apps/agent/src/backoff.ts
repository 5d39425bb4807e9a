/** Waits `ms`, or less when the signal says to stop. Never rejects. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })

const firstMs = 1_000
const longestMs = 60_000

/**
 * How long to wait after the `attempt`-th failure (from 1): exponential with full jitter, so that offices which lost the
 * server together do not come back together. Never shorter than the server asked for, plus up to a tenth on top.
 */
export function backoffMs(attempt: number, retryAfterMs: number | null, random: () => number): number {
  const ceiling = Math.min(longestMs, firstMs * 2 ** (attempt - 1))
  const own = random() * ceiling
  return retryAfterMs === null ? own : Math.max(own, retryAfterMs * (1 + random() / 10))
}

/** `Retry-After` in seconds or as a date, in milliseconds from now; null when absent or not understood. Never negative. */
export function retryAfterMs(header: string | null, now: Date): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}
