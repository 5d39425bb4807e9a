import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api-error.ts'
import type { Bridgework } from '../bridgework.ts'
import type { ChangeRow } from '../changes-resource.ts'

/** A service of an earlier release is asked again after this time. */
const pauseMs = 10_000
/** What failed is tried again after this time, */
const againMs = 30_000
/** and what no row tells, such as how current a location is, is read again after this. */
const idleMs = 5 * 60_000

/**
 * Resolves at once when it is called first, then each time that something changed: with the rows that say so, or null when it is time to look whatever
 * changed. `hasFailed`: the last look did not see all. Throws what the service refuses for good, and on abort.
 */
export function createChangeWaiter(
  client: Bridgework,
  signal: AbortSignal,
): (hasFailed: boolean) => Promise<ChangeRow[] | null> {
  let pages: ReturnType<Bridgework['changes']['follow']> | null = null
  let isFirst = true
  return async (hasFailed) => {
    const until = performance.now() + (hasFailed ? againMs : idleMs)
    const wasFirst = isFirst
    isFirst = false
    try {
      while (performance.now() < until) {
        pages ??= client.changes.follow({ signal })
        const { value } = await pages.next()
        if (value.news.length > 0 || wasFirst) return value.news
      }
    } catch (error) {
      pages = null
      if (!(error instanceof ApiError) || error.status === 401) throw error
      if (!wasFirst) await sleep(pauseMs, undefined, { signal })
    }
    return null
  }
}
