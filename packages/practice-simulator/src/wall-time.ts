/** Days are `2026-11-20`, wall times `2026-11-20T09:00:00`: compared as text, counted as if every day had 24 hours. */

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000)
}

/** Monday is 1, Sunday 7. */
export function weekdayOf(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay() || 7
}

export function addMinutes(at: string, minutes: number): string {
  return new Date(Date.parse(`${at}Z`) + minutes * 60_000).toISOString().slice(0, 19)
}

export function atMinute(day: string, minute: number): string {
  return addMinutes(`${day}T00:00:00`, minute)
}

/** Minutes after midnight. */
export function minuteOf(at: string): number {
  return Number(at.slice(11, 13)) * 60 + Number(at.slice(14, 16))
}

/** The wall time of a zone at an instant. */
export function wallTimeAt(instant: Date, timeZone: string): string {
  return new Date(instant.getTime() + offsetMs(instant.getTime(), timeZone)).toISOString().slice(0, 19)
}

/** The instant at which a zone's wall clock shows this; of two the earlier, and where the clock jumps over it as if it had not. */
export function instantOf(at: string, timeZone: string): string {
  const shown = Date.parse(`${at}Z`)
  const key = `${timeZone} ${at.slice(0, 13)}`
  let offset = offsets.get(key)
  if (offset === undefined) {
    const before = offsetMs(shown - 86_400_000, timeZone)
    const isBefore = offsetMs(shown - before, timeZone) === before
    offset = isBefore ? before : offsetMs(shown + 86_400_000, timeZone)
    // In the hour that a clock jumps over, neither offset fits: the earlier one leads past it.
    if (!isBefore && offsetMs(shown - offset, timeZone) !== offset) offset = before
    if (offsets.size > 200_000) offsets.clear()
    offsets.set(key, offset)
  }
  return new Date(shown - offset).toISOString()
}

const offsets = new Map<string, number>()
const formats = new Map<string, Intl.DateTimeFormat>()

function offsetMs(instantMs: number, timeZone: string): number {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    formats.set(timeZone, format)
  }
  const name = format.formatToParts(instantMs).find((part) => part.type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? []
  return hours === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
