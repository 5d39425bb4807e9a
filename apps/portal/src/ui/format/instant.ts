import { t } from '../../language/t.ts'
import { locale } from './locale.ts'

const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** "3 minutes ago" or "in 24 hours" for what is at most a day away, else the day and the time of day, in the viewer's zone. */
export function shortInstant(instant: string, now: number): string {
  const seconds = (Date.parse(instant) - now) / 1000
  if (Math.abs(seconds) < 60) return seconds <= 0 ? t('just now') : t('in less than a minute')
  if (seconds <= -day || seconds > day) {
    return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(instant))
  }
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always' })
  // Rounded: what was made a second ago for 24 hours ends in 24 hours, not in 23. Minutes below 2 hours, where half an hour would matter.
  if (seconds >= 2 * hour) return relative.format(Math.round(seconds / hour), 'hour')
  if (seconds > 0) return relative.format(Math.round(seconds / minute), 'minute')
  const [unit, length] = seconds <= -hour ? (['hour', hour] as const) : (['minute', minute] as const)
  return relative.format(Math.trunc(seconds / length), unit)
}

/** The exact instant with seconds and the zone's name, in the viewer's zone. */
export function exactInstant(instant: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' }).format(new Date(instant))
}
