import { locale } from './locale.ts'

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** "3 minutes ago" for what is less than a day away, else the day and the time of day, in the viewer's zone. */
export function shortInstant(instant: string, now: number): string {
  const seconds = (Date.parse(instant) - now) / 1000
  if (Math.abs(seconds) < 60) return seconds <= 0 ? 'just now' : 'in less than a minute'
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? units[2]
  if (unit !== 'day') {
    return new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(Math.trunc(seconds / length), unit)
  }
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(instant))
}

/** The exact instant with seconds and the zone's name, in the viewer's zone. */
export function exactInstant(instant: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' }).format(new Date(instant))
}
