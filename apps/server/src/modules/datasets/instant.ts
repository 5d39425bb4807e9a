import type { Stamp } from './stamp.ts'

const pattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/**
 * The moment that an RFC 3339 date-time names, in microseconds, rounded down: upper-case `T`, `Z` or an offset, up to nine fractional
 * digits, a day that exists, from 1970 on. Null for anything else: JavaScript turns 30 February into 1 March, so the parts are checked.
 * Every delta names one: read by place, because the groups of a regular expression were a twentieth of the server's time for an empty one.
 */
export function parseInstant(text: string): Stamp | null {
  if (!pattern.test(text)) return null
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)]
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)]
  const isUtc = text.endsWith('Z')
  const zone = isUtc ? text.length - 1 : text.length - 6
  const offsetHours = isUtc ? 0 : digits(text, zone + 1, zone + 3)
  const offsetMinutes = isUtc ? 0 : digits(text, zone + 4, zone + 6)
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  const isTime = hour <= 23 && minute <= 59 && second <= 59
  if (!isDay || !isTime || year < 1969 || offsetHours > 23 || offsetMinutes > 59) return null
  const offset = (offsetHours * 60 + offsetMinutes) * (text[zone] === '-' ? -1 : 1)
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute - offset, second)
  const fraction = text.slice(20, Math.min(zone, 26))
  const stamp = milliseconds * 1000 + Number(fraction.padEnd(6, '0'))
  return stamp >= 0 ? stamp : null
}

/** The number that the digits of `text` from `start` to before `end` write. */
function digits(text: string, start: number, end: number): number {
  let number = 0
  for (let place = start; place < end; place += 1) number = number * 10 + text.charCodeAt(place) - zero
  return number
}

const zero = '0'.charCodeAt(0)

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
