/** A day, and a time of day where the text has one. `offset`: as `Z` or `+01:00`, where the text has one. */
export type DateParts = { day: string; time: string; offset: string | null }

const tokens: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
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
  A: '(?<half>[AaPp])\\.?[Mm]\\.?',
  Z: '(?<offset>Z|[+-]\\d{2}:?\\d{2})',
}
const tokenPattern = /YYYY|YY|MM|M|DD|D|HH|H|hh|h|mm|ss|A|Z/g

const isoPattern =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[T ](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,]\d+)?)?(?<offset>Z|[+-]\d{2}:?\d{2})?)?$/

/** How dates are read: by a format of the words YYYY MM M DD D HH H hh h mm ss A Z; null for ISO 8601. */
export type DateReader = (text: string) => DateParts | null

/** The reader of a format, or what is wrong with it. */
export function dateReader(format: string | null): DateReader | { fault: string } {
  if (format === null) return (text) => partsOf(isoPattern.exec(text))
  const words: readonly string[] = format.match(tokenPattern) ?? []
  if (words.includes('YY')) return { fault: 'has a year of two digits, which may be of either century; write YYYY' }
  const groups = words.map((word) => /<(\w+)>/.exec(tokens[word] ?? '')?.[1])
  if (new Set(groups).size < groups.length) return { fault: 'names a part twice' }
  const has = (...names: string[]) => names.some((name) => groups.includes(name))
  if (!has('year') || !has('month') || !has('day')) return { fault: 'must name YYYY, MM (or M) and DD (or D)' }
  if (has('hour12') !== has('half')) return { fault: 'needs A (AM or PM) beside hh or h' }
  let pattern = ''
  let end = 0
  for (const match of format.matchAll(tokenPattern)) {
    pattern += escaped(format.slice(end, match.index)) + (tokens[match[0]] ?? '')
    end = match.index + match[0].length
  }
  const compiled = new RegExp(`^${pattern}${escaped(format.slice(end))}$`)
  return (text) => partsOf(compiled.exec(text))
}

function partsOf(match: RegExpExecArray | null): DateParts | null {
  const parts = match?.groups
  if (!parts) return null
  const number = (text: string | undefined) => Number(text ?? 0)
  const hour = parts.hour12 === undefined ? number(parts.hour) : hourOf(number(parts.hour12), parts.half ?? '')
  const [minute, second] = [number(parts.minute), number(parts.second)]
  const day = [parts.year ?? '', (parts.month ?? '').padStart(2, '0'), (parts.day ?? '').padStart(2, '0')].join('-')
  if (hour === null || hour > 23 || minute > 59 || second > 59 || !exists(day)) return null
  const time = [hour, minute, second].map((part) => String(part).padStart(2, '0')).join(':')
  const offset = parts.offset?.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2') ?? null
  return { day, time, offset }
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

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
