import { limits } from '@bridgework/contract'

/**
 * A stamp is a whole number of microseconds since 1970, exact as a JavaScript number until the year 2255. A Date would drop the microseconds
 * and a delta would repeat its last record.
 */
export type Stamp = number

export const deltaOverlapMicros = limits.deltaOverlapMs * 1000

/** The instant of a stamp with milliseconds, as records carry it: `2026-11-20T12:00:00.123Z`. */
export function formatInstant(stamp: Stamp): string {
  if (stamp !== formatted.stamp) formatted = { stamp, text: new Date(Math.floor(stamp / 1000)).toISOString() }
  return formatted.text
}

/** The last one: all records of an upload carry the same. */
let formatted: { stamp: Stamp; text: string } = { stamp: 0, text: '1970-01-01T00:00:00.000Z' }

/** The same with six fractional digits: the form of a watermark, which must come back exactly. */
export function formatMicros(stamp: Stamp): string {
  return `${formatInstant(stamp).slice(0, -1)}${String(stamp % 1000).padStart(3, '0')}Z`
}

/**
 * What a client passes back to get exactly what changed after `lastStamp`: a delta reaches back by the overlap, so the watermark lies ahead
 * by as much.
 */
export function watermarkAfter(lastStamp: Stamp): string {
  return formatMicros(lastStamp + deltaOverlapMicros)
}

/** The stamp of the next change: later than the last one, and not before the database's clock. */
export function nextStamp(lastStamp: Stamp, clock: Stamp): Stamp {
  return Math.max(lastStamp + 1, clock)
}
