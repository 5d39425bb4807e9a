import type { Queryable } from '../../platform/database/queryable.ts'
import { type Incident, listIncidents } from './incident.ts'

/** What everyone may read, asked of the database at most every 15 seconds, however many read it. */
export const statusKeptMs = 15_000
const shownDays = 30
const shownMax = 50

/**
 * The published incidents. While the database is away, the answer is that of before: the page is read most when something is wrong. Throws only
 * when there is none.
 */
export function createPublicStatus(deps: {
  pool: Queryable
  now: () => Date
  monotonicMs?: () => number
}): () => Promise<Incident[]> {
  const { pool, now, monotonicMs = () => performance.now() } = deps
  let kept: { incidents: Incident[]; untilMs: number } | null = null
  let running: Promise<Incident[]> | null = null
  const read = async () => {
    try {
      const incidents = await listIncidents(pool, new Date(now().getTime() - shownDays * 86_400_000), shownMax)
      kept = { incidents, untilMs: monotonicMs() + statusKeptMs }
      return incidents
    } catch (error) {
      if (kept === null) throw error
      kept = { ...kept, untilMs: monotonicMs() + statusKeptMs }
      return kept.incidents
    }
  }
  return async () => {
    if (kept && monotonicMs() < kept.untilMs) return kept.incidents
    running ??= read().finally(() => {
      running = null
    })
    return await running
  }
}
