import { isWithinYears } from '../records/values.ts'

/** A moment on a wall clock, as an instant and as it stands on that clock. */
export type WallTime = { readonly instant: string; readonly local: string }

/**
 * Reads `YYYY-MM-DD HH:MM:SS` off a wall clock in an IANA zone; null for Open Dental's "no date". An hour that comes twice in autumn
 * is its first; one that spring leaves out is as much later as the clock was put on.
 */
export function wallTimeOrNull(value: string | null | undefined, zone: string): WallTime | null {
  if (value === null || value === undefined || !isWithinYears(value)) return null
  const local = value.slice(0, 19).replace(' ', 'T')
  const wallMs = Date.parse(`${local}Z`)
  if (Number.isNaN(wallMs)) return null
  return { instant: new Date(instantMs(wallMs, zone)).toISOString(), local }
}

/** As `wallTimeOrNull`, where midnight too means that no time was set. */
export function timeOfDayOrNull(value: string | null | undefined, zone: string): WallTime | null {
  const time = wallTimeOrNull(value, zone)
  return time === null || time.local.endsWith('T00:00:00') ? null : time
}

/** The day that it is in this zone. */
export function dayIn(zone: string, now: Date): string {
  return localIn(zone, now).slice(0, 10)
}

/** What the clocks of this zone show, as `YYYY-MM-DDTHH:MM:SS`. */
export function localIn(zone: string, now: Date): string {
  return new Date(now.getTime() + offsetMs(now.getTime(), zone)).toISOString().slice(0, 19)
}

/** A wall time with its offset, as `2026-01-15T09:00:00-06:00`. */
export function withOffset({ instant, local }: WallTime): string {
  const minutes = Math.round((Date.parse(`${local}Z`) - Date.parse(instant)) / 60_000)
  const digits = (value: number) => String(value).padStart(2, '0')
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${local}${minutes < 0 ? '-' : '+'}${digits(hours)}:${digits(rest)}`
}

const dayMs = 24 * 60 * 60 * 1000

function instantMs(wallMs: number, zone: string): number {
  const before = offsetMs(wallMs - dayMs, zone)
  if (offsetMs(wallMs - before, zone) === before) return wallMs - before
  const after = offsetMs(wallMs + dayMs, zone)
  return offsetMs(wallMs - after, zone) === after ? wallMs - after : wallMs - before
}

/** How far the clock is ahead of UTC at an instant. A zone's offset changes on a quarter of an hour, if at all. */
function offsetMs(instant: number, zone: string): number {
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
