import type { FreshnessState } from '@bridgework/contract'
import { type OpenTimes, openMsBetween } from '../directory/office-hours.ts'

export type SyncTimes = {
  /** False: the source does not have this dataset. */
  isProvided: boolean
  syncedAt: Date | null
  initialSyncCompletedAt: Date | null
}

/** An agent reads every minute or so: a quarter of an hour of open time without a finished read is too long. */
const staleAfterMs = 15 * 60_000
/** An agent that has not been heard for an hour of open time is off, cut off or gone. */
const disconnectedAfterMs = 60 * 60_000

/**
 * How current a dataset's copy is. Only time in which the location is open counts: nobody changes anything at night, and many offices switch
 * their computers off. `lastContactAt` is asked for only when the last read is too long ago.
 *
 * - pending: not every record has been read yet
 * - current: read to the end within the last 15 minutes of open time
 * - stale: not so, but an agent was heard within the last 60 minutes of open time: the practice management system cannot be read
 * - disconnected: neither
 * - not_provided: the source does not have this dataset, so there is nothing to wait for
 */
export async function freshnessOf(
  times: SyncTimes,
  place: OpenTimes,
  lastContactAt: () => Promise<Date | null>,
  now: Date,
): Promise<FreshnessState> {
  if (!times.isProvided) return 'not_provided'
  if (times.initialSyncCompletedAt === null || times.syncedAt === null) return 'pending'
  if (!isLongerAgo(times.syncedAt, staleAfterMs, place, now)) return 'current'
  if (!isLongerAgo(times.syncedAt, disconnectedAfterMs, place, now)) return 'stale'
  const contact = await lastContactAt()
  return contact === null || isLongerAgo(contact, disconnectedAfterMs, place, now) ? 'disconnected' : 'stale'
}

/** In open time. Most often the plain difference decides, and then nothing is asked of calendars. */
function isLongerAgo(moment: Date, ms: number, place: OpenTimes, now: Date): boolean {
  return now.getTime() - moment.getTime() > ms && openMsBetween(place, moment, now) > ms
}

/** Several datasets as one: as complete and as current as the one that is furthest behind, of those that the source has. */
export function oldestOf(all: readonly SyncTimes[]): SyncTimes {
  const provided = all.filter((times) => times.isProvided)
  return {
    isProvided: provided.length > 0 || all.length === 0,
    syncedAt: earliest(provided.map((times) => times.syncedAt)),
    initialSyncCompletedAt: latest(provided.map((times) => times.initialSyncCompletedAt)),
  }
}

function earliest(dates: readonly (Date | null)[]): Date | null {
  return dates.length === 0 || dates.includes(null) ? null : new Date(Math.min(...dates.map(Number)))
}

function latest(dates: readonly (Date | null)[]): Date | null {
  return dates.length === 0 || dates.includes(null) ? null : new Date(Math.max(...dates.map(Number)))
}
