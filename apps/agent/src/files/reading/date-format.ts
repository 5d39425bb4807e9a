/** A day, and a time of day where the text has one. `offset`: as `Z` or `+01:00`, where the text has one. */
export type DateParts = { day: string; time: string; offset: string | null }

/** How dates of a file are written. */
export type DateWriting = {
  /** Made of the words in `tokens`, or `excel`: a spreadsheet's number; null: ISO 8601. */
  readonly format: string | null
  /** The last year of two digits that belongs to 2000: with 30, 30 is 2030 and 31 is 1931. */
  readonly pivot: number | null
  /** Of the names of months: a language tag, as de. */
  readonly language: string
}

const tokens: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  YY: '(?<year>\\d{2})',
  MMM: '(?<monthName>[^\\d\\s/,-]+)',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{2})',
  D: '(?<day>\\d{1,2})',
  HH: '(?<hour>\\d{2})',
  H: '(?<hour>\\d{1,2})',
  hh: '(?<hour12>\\d{2})',
  h: '(?<hour12>\\d{1,2})',
  mm: '(?<minute>\\d{2})',
  ss: '(?<second>\\d{2})',
  A: '(?<half>[AaPp])\\.?[Mm]?\\.?',
  Z: '(?<offset>Z|[+-]\\d{2}:?\\d{2})',
}
const tokenPattern = /YYYY|YY|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|A|Z/g

const isoPattern =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[T ](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,]\d+)?)?(?<offset>Z|[+-]\d{2}:?\d{2})?)?$/

/** What a spreadsheet writes where a cell has a date and is not formatted as one. */
export const excelFormat = 'excel'

/** How dates are read. Null: the text is no date of this format, or none that exists. */
export type DateReader = (text: string) => DateParts | null

/** The reader of a format, or what is wrong with it. */
export function dateReader({ format, pivot, language }: DateWriting): DateReader | { fault: string } {
  const months = new Map<string, number>()
  if (format === null) return (text) => partsOf(isoPattern.exec(text), pivot, months)
  if (format === excelFormat) return ofSerial
  const words: readonly string[] = format.match(tokenPattern) ?? []
  if (words.includes('YY') && pivot === null)
    return { fault: 'has a year of two digits: say with "pivot" which is the last one of this century, or write YYYY' }
  const groups = words.map((word) => /<(\w+)>/.exec(tokens[word] ?? '')?.[1]?.replace('monthName', 'month'))
  if (new Set(groups).size < groups.length) return { fault: 'names a part twice' }
  const has = (...names: string[]) => names.some((name) => groups.includes(name))
  if (!has('year') || !has('month') || !has('day')) return { fault: 'must name YYYY, MM (or M) and DD (or D)' }
  if (has('hour12') !== has('half')) return { fault: 'needs A (AM or PM) beside hh or h' }
  if (words.includes('MMM')) for (const [name, month] of monthNames(language)) months.set(name, month)
  let pattern = ''
  let end = 0
  for (const match of format.matchAll(tokenPattern)) {
    pattern += escaped(format.slice(end, match.index)) + (tokens[match[0]] ?? '')
    end = match.index + match[0].length
  }
  const compiled = new RegExp(`^${pattern}${escaped(format.slice(end))}$`)
  return (text) => partsOf(compiled.exec(text), pivot, months)
}

function partsOf(
  match: RegExpExecArray | null,
  pivot: number | null,
  months: ReadonlyMap<string, number>,
): DateParts | null {
  const parts = match?.groups
  if (!parts) return null
  const number = (text: string | undefined) => Number(text ?? 0)
  const hour = parts.hour12 === undefined ? number(parts.hour) : hourOf(number(parts.hour12), parts.half ?? '')
  const [minute, second] = [number(parts.minute), number(parts.second)]
  const month = parts.monthName === undefined ? parts.month : String(monthOf(plainName(parts.monthName), months) ?? 0)
  const day = [
    yearOf(parts.year ?? '', pivot),
    (month ?? '').padStart(2, '0'),
    (parts.day ?? '').padStart(2, '0'),
  ].join('-')
  if (hour === null || hour > 23 || minute > 59 || second > 59 || !exists(day)) return null
  const time = [hour, minute, second].map((part) => String(part).padStart(2, '0')).join(':')
  const offset = parts.offset?.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2') ?? null
  return { day, time, offset }
}

const dayMs = 86_400_000
const serialMax = 2_958_466

/**
 * A serial value of the 1900 date system: days since 31 December 1899, and the time of day as a part of one (ECMA-376, Part 1, 18.17.4.1). 60 is the
 * 29 February 1900 that never was, so every day after it is one later.
 */
function ofSerial(text: string): DateParts | null {
  const serial = /^\d{1,7}([.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : 0
  const seconds = Math.round(serial * 86_400)
  const days = Math.floor(seconds / 86_400)
  if (days < 1 || days === 60 || days >= serialMax) return null
  const at = new Date(Date.UTC(1899, 11, 31) + (days > 60 ? days - 1 : days) * dayMs + (seconds % 86_400) * 1000)
  const [day = '', time = ''] = at.toISOString().slice(0, 19).split('T')
  return { day, time, offset: null }
}

function yearOf(digits: string, pivot: number | null): string {
  if (digits.length === 4 || pivot === null) return digits
  return `${Number(digits) <= pivot ? '20' : '19'}${digits}`
}

/** Long and short names of the months in a language, each with its number. */
function monthNames(language: string): [string, number][] {
  return (['long', 'short'] as const).flatMap((month) =>
    [{ month }, { month, day: 'numeric' } as const].flatMap((options) => {
      const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' })
      return Array.from({ length: 12 }, (_, index): [string, number] => {
        const parts = format.formatToParts(new Date(Date.UTC(2000, index, 1)))
        return [plainName(parts.find(({ type }) => type === 'month')?.value ?? ''), index + 1]
      })
    }),
  )
}

/** By its name, or by at least three of its first letters when they are of one month alone: Sept. */
function monthOf(name: string, months: ReadonlyMap<string, number>): number | undefined {
  const known = months.get(name)
  if (known !== undefined || name.length < 3) return known
  const found = new Set([...months].flatMap(([each, month]) => (each.startsWith(name) ? [month] : [])))
  return found.size === 1 ? [...found][0] : undefined
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll('.', '')
}

function hourOf(hour12: number, half: string): number | null {
  if (hour12 < 1 || hour12 > 12) return null
  return (hour12 % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

/** JavaScript turns 30 February into 1 March. */
function exists(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

/** A text as a regular expression that fits it alone: RegExp.escape came with Node 24, and the agent runs on 22. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
