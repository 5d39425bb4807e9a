/** A moment on a wall clock, as an instant and as it stands on that clock. */
export type WallTime = { readonly instant: string; readonly local: string }

/** Where a wall clock hangs: a zone, or, when the zone is not known, how far the server's clock is ahead of UTC. */
export type Clock = { readonly zone: string | null; readonly offsetSeconds: number }

/**
 * Reads `YYYY-MM-DD HH:MM:SS` off a wall clock; null for Open Dental's "no date". An hour that comes twice in autumn
 * is its first; one that spring leaves out is as much later as the clock was put on.
 */
export function wallTimeOrNull(value: string | null | undefined, clock: Clock): WallTime | null {
  if (value === null || value === undefined || value < '1880-01-01') return null
  const local = value.slice(0, 19).replace(' ', 'T')
  const wallMs = Date.parse(`${local}Z`)
  if (Number.isNaN(wallMs)) return null
  return { instant: new Date(instantMs(wallMs, clock)).toISOString(), local }
}

/** As `wallTimeOrNull`, where midnight too means that no time was set. */
export function timeOfDayOrNull(value: string | null | undefined, clock: Clock): WallTime | null {
  const time = wallTimeOrNull(value, clock)
  return time === null || time.local.endsWith('T00:00:00') ? null : time
}

/** The day that it is on this clock. */
export function dayOn(clock: Clock, now: Date): string {
  return new Date(now.getTime() + offsetMs(now.getTime(), clock)).toISOString().slice(0, 10)
}

const dayMs = 24 * 60 * 60 * 1000

function instantMs(wallMs: number, clock: Clock): number {
  const before = offsetMs(wallMs - dayMs, clock)
  if (offsetMs(wallMs - before, clock) === before) return wallMs - before
  const after = offsetMs(wallMs + dayMs, clock)
  return offsetMs(wallMs - after, clock) === after ? wallMs - after : wallMs - before
}

/** How far the clock is ahead of UTC at an instant. A zone's offset changes on a quarter of an hour, if at all. */
function offsetMs(instant: number, { zone, offsetSeconds }: Clock): number {
  if (zone === null) return offsetSeconds * 1000
  if (zone === 'UTC') return 0
  const quarter = Math.floor(instant / quarterMs)
  const known = offsetsOf(zone)
  const offset = known.offsets.get(quarter) ?? askOffsetMs(known.format, quarter * quarterMs)
  if (known.offsets.size > offsetsKeptMax) known.offsets.clear()
  known.offsets.set(quarter, offset)
  return offset
}

const quarterMs = 15 * 60 * 1000
const offsetsKeptMax = 100_000
const zones = new Map<string, { format: Intl.DateTimeFormat; offsets: Map<number, number> }>()

function offsetsOf(zone: string) {
  const known = zones.get(zone) ?? {
    format: new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    }),
    offsets: new Map<number, number>(),
  }
  zones.set(zone, known)
  return known
}

function askOffsetMs(format: Intl.DateTimeFormat, instant: number): number {
  const parts = Object.fromEntries(format.formatToParts(instant).map((part) => [part.type, Number(part.value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - instant
}
