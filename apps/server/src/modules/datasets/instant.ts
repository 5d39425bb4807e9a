import type { Stamp } from './stamp.ts'

const pattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/**
 * A moment in whole microseconds since 1970, negative before it: exact for all years that a date-time can name, where a stamp is not exact beyond the
 * year 2255.
 */
export type Moment = bigint

/**
 * The stamp that an RFC 3339 date-time names, in microseconds, rounded down: upper-case `T`, `Z` or an offset, up to nine fractional digits, a day
 * that exists, from 1970 on. Null for anything else. Every delta names one: read by place, because the groups of a regular expression were a
 * twentieth of the server's time for an empty one.
 */
export function parseInstant(text: string): Stamp | null {
  const read = readParts(text)
  if (read === null || read.isLeapSecond) return null
  const stamp = read.milliseconds * 1000 + read.micros
  return stamp >= 0 ? stamp : null
}

/**
 * The same for every year from 0000 to 9999, and for a leap second (23:59:60 in UTC), which is the moment after it, as in POSIX and for every reader that
 * counts days of 86,400 seconds.
 */
export function parseMoment(text: string): Moment | null {
  const read = readParts(text)
  return read && BigInt(read.milliseconds) * 1000n + BigInt(read.micros)
}

/** A moment as UTC with six fractional digits. */
export function formatMoment(moment: Moment): string {
  const micros = ((moment % 1000n) + 1000n) % 1000n
  const text = new Date(Number((moment - micros) / 1000n)).toISOString()
  return `${text.slice(0, -1)}${String(micros).padStart(3, '0')}Z`
}

/** JavaScript turns 30 February into 1 March, so the parts are checked. */
function readParts(text: string): { milliseconds: number; micros: number; isLeapSecond: boolean } | null {
  if (!pattern.test(text)) return null
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)]
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)]
  const isUtc = text.endsWith('Z')
  const zone = isUtc ? text.length - 1 : text.length - 6
  const offsetHours = isUtc ? 0 : digits(text, zone + 1, zone + 3)
  const offsetMinutes = isUtc ? 0 : digits(text, zone + 4, zone + 6)
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  const isTime = hour <= 23 && minute <= 59 && second <= 60
  if (!isDay || !isTime || offsetHours > 23 || offsetMinutes > 59) return null
  const offset = (offsetHours * 60 + offsetMinutes) * (text[zone] === '-' ? -1 : 1)
  const milliseconds = utcMs(year, month - 1, day, hour, minute - offset, second)
  const isLeapSecond = second === 60
  if (isLeapSecond && milliseconds % dayMs !== 0) return null
  const fraction = text.slice(20, Math.min(zone, 26)).padEnd(6, '0')
  return { milliseconds: milliseconds + digits(fraction, 0, 3), micros: digits(fraction, 3, 6), isLeapSecond }
}

const dayMs = 24 * 60 * 60_000

/** `Date.UTC` takes the years 0 to 99 for those from 1900 on. The calendar repeats itself after 400 years. */
function utcMs(
  year: number,
  ...rest: [month: number, day: number, hour: number, minute: number, second: number]
): number {
  return year >= 100 ? Date.UTC(year, ...rest) : Date.UTC(year + 400, ...rest) - 146_097 * dayMs
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
