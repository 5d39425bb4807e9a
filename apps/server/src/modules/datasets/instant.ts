import type { Stamp } from './stamp.ts'

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2}):(\d{2}))$/

/**
 * The moment that an RFC 3339 date-time names, in microseconds, rounded down: upper-case `T`, `Z` or an offset, up to nine fractional
 * digits, a day that exists, from 1970 on. Null for anything else: JavaScript turns 30 February into 1 March, so the parts are checked.
 */
export function parseInstant(text: string): Stamp | null {
  const match = pattern.exec(text)
  if (!match) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const [fraction = '', sign, offsetHours, offsetMinutes] = match.slice(7)
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  const isTime = hour <= 23 && minute <= 59 && second <= 59
  if (!isDay || !isTime || year < 1969 || Number(offsetHours ?? 0) > 23 || Number(offsetMinutes ?? 0) > 59) return null
  const offset = (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0)) * (sign === '-' ? -1 : 1)
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute - offset, second)
  const stamp = milliseconds * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
  return stamp >= 0 ? stamp : null
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}
