import type { FreshnessState } from '@bridgework/contract'

export type SyncTimes = { syncedAt: Date | null; initialSyncCompletedAt: Date | null }

const staleAfterMs = 15 * 60_000
const disconnectedAfterMs = 24 * 60 * 60_000

/**
 * How current a dataset's copy is. An agent reports every minute or so: a quarter of an hour without a finished read is stale, a day is
 * an agent that no longer runs.
 */
export function freshnessOf(times: SyncTimes, now: Date): FreshnessState {
  if (times.initialSyncCompletedAt === null || times.syncedAt === null) return 'pending'
  const age = now.getTime() - times.syncedAt.getTime()
  return age <= staleAfterMs ? 'current' : age <= disconnectedAfterMs ? 'stale' : 'disconnected'
}

/** Several datasets as one: as complete and as current as the one that is furthest behind. */
export function oldestOf(all: readonly SyncTimes[]): SyncTimes {
  return {
    syncedAt: earliest(all.map((times) => times.syncedAt)),
    initialSyncCompletedAt: latest(all.map((times) => times.initialSyncCompletedAt)),
  }
}

function earliest(dates: readonly (Date | null)[]): Date | null {
  return dates.length === 0 || dates.includes(null) ? null : new Date(Math.min(...dates.map(Number)))
}

function latest(dates: readonly (Date | null)[]): Date | null {
  return dates.length === 0 || dates.includes(null) ? null : new Date(Math.max(...dates.map(Number)))
}
