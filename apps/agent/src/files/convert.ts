import type { JsonValue } from '../connector.ts'
import { wallTimeOrNull } from '../open-dental/time/wall-time.ts'
import { type DateReader, dateReader } from './date-format.ts'
import type { Kind } from './schema-kind.ts'

/** How the text of a column becomes an attribute, as the mapping says. */
export type ColumnRule = {
  readonly column: string
  /** Texts of the file and what they stand for. */
  readonly values: ReadonlyMap<string, JsonValue> | null
  /** What every other text of an enum stands for. */
  readonly otherwise: JsonValue | undefined
  /** What an empty text stands for. */
  readonly default: JsonValue | undefined
  /** Texts that stand for nothing, as 00/00/0000. */
  readonly empty: readonly string[]
  readonly format: string | null
  readonly decimal: '.' | ','
  readonly negate: boolean
  readonly separator: string
}

/** The attribute's value, or which rule the text breaks. Never says the text itself: it may be a patient's. */
export type Converted = { readonly value: JsonValue } | { readonly fault: string }
export type Converter = (text: JsonValue | undefined, timeZone: string | null) => Converted

/** The conversion of one column into one kind of attribute. The rule was checked: its format can be read. */
export function converter(kind: Kind, rule: ColumnRule): Converter {
  const read = dateReader(rule.format)
  const convert = ofKind(kind, rule, typeof read === 'function' ? read : () => null)
  return (cell, timeZone) => {
    if (Array.isArray(cell) && kind.kind === 'list')
      return { value: cell.map((item) => String(item).replaceAll('\u0000', '')) }
    if (typeof cell === 'object' && cell !== null) return { fault: 'must be a plain value, not a list or an object' }
    const text = cell === undefined || cell === null ? '' : String(cell).replaceAll('\u0000', '').trim()
    const isEmpty = text === '' || rule.empty.includes(text)
    const mapped = rule.values?.get(text)
    if (mapped !== undefined) return { value: mapped }
    if (isEmpty) return emptyValue(kind, rule)
    if (rule.values !== null && rule.otherwise !== undefined) return { value: rule.otherwise }
    if (rule.values !== null)
      return { fault: `must be one of the texts in "values": ${[...rule.values.keys()].join(', ')}` }
    return convert(text, timeZone)
  }
}

function emptyValue(kind: Kind, rule: ColumnRule): Converted {
  if (rule.default !== undefined) return { value: rule.default }
  if (kind.isNullable) return { value: null }
  if (kind.kind === 'list') return { value: [] }
  if (kind.kind === 'boolean') return { value: false }
  if (kind.kind === 'text' && kind.lengthMin === 0) return { value: '' }
  return { fault: 'must not be empty; set a "default" if an empty value has a meaning' }
}

function ofKind(kind: Kind, rule: ColumnRule, read: DateReader): (text: string, timeZone: string | null) => Converted {
  switch (kind.kind) {
    case 'text':
      return (text) =>
        [...text].length > kind.lengthMax
          ? { fault: `must have at most ${kind.lengthMax} characters` }
          : { value: text }
    case 'enum':
      return (text) =>
        kind.values.includes(text)
          ? { value: text }
          : { fault: `must be one of ${kind.values.join(', ')}; map others with "values"` }
    case 'boolean':
      return (text) => asBoolean(text)
    case 'integer':
      return (text) => asInteger(text, kind.least, kind.most)
    case 'money':
      return (text) => asMoney(text, rule)
    case 'list':
      return (text) => ({
        value: text
          .split(rule.separator)
          .map((item) => item.trim())
          .filter((item) => item !== ''),
      })
    case 'date':
    case 'instant':
    case 'wall_time':
      return (text, timeZone) => asTime(kind.kind, text, rule, read, timeZone)
    case 'object':
    case 'objects':
      return () => ({ fault: 'must be mapped member by member' })
  }
}

function asBoolean(text: string): Converted {
  if (/^(1|true|yes|y|t|x)$/i.test(text)) return { value: true }
  if (/^(0|false|no|n|f)$/i.test(text)) return { value: false }
  return { fault: 'must be yes or no, true or false, 1 or 0; map others with "values"' }
}

function asInteger(text: string, least: number, most: number): Converted {
  const value = /^[+-]?\d{1,15}(\.0+)?$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? { value } : { fault: `must be a whole number from ${least} to ${most}` }
}

/** `1,234.5`, `$ 1234.50`, `(12.00)` and, with a decimal comma, `1.234,50`. More than two decimals are no money. */
function asMoney(text: string, { decimal, negate }: ColumnRule): Converted {
  const inBrackets = /^\((.*)\)$/.exec(text)
  const bare = (inBrackets?.[1] ?? text).replace(/^([+-]?)\s*[$€£]\s*|\s*[$€£]$/g, '$1').replaceAll(/[\s\u00a0']/g, '')
  const groups =
    decimal === '.'
      ? /^([+-]?)(\d{1,3}(?:,\d{3})+|\d+)?(?:\.(\d{1,2})0*)?$/
      : /^([+-]?)(\d{1,3}(?:\.\d{3})+|\d+)?(?:,(\d{1,2})0*)?$/
  const [, sign = '', whole = '', cents = ''] = groups.exec(bare) ?? []
  const digits = whole.replaceAll(/\D/g, '').replace(/^0+(?=\d)/, '')
  if ((whole === '' && cents === '') || digits.length > 13) {
    return { fault: `must be an amount with at most two decimals, like ${decimal === '.' ? '1,234.50' : '1.234,50'}` }
  }
  const amount = `${digits || '0'}.${cents.padEnd(2, '0')}`
  const isNegative = (sign === '-' || inBrackets !== null) !== negate && /[1-9]/.test(amount)
  return { value: isNegative ? `-${amount}` : amount }
}

function asTime(
  kind: 'date' | 'instant' | 'wall_time',
  text: string,
  rule: ColumnRule,
  read: DateReader,
  timeZone: string | null,
): Converted {
  const parts = read(text)
  const what = kind === 'date' ? 'a date that exists' : 'a date and time that exist'
  if (parts === null)
    return { fault: `must be ${what}, like ${rule.format ?? (kind === 'date' ? 'YYYY-MM-DD' : 'YYYY-MM-DDTHH:mm:ss')}` }
  const local = `${parts.day}T${parts.time}`
  if (kind === 'date') return { value: parts.day }
  if (kind === 'wall_time') {
    return parts.offset === null ? { value: local } : { fault: 'must be a time on the wall clock, without an offset' }
  }
  if (parts.offset !== null) return { value: new Date(`${local}${parts.offset}`).toISOString() }
  if (timeZone === null) return { fault: 'needs the "time_zone" of its location, for its time has no offset' }
  const instant = wallTimeOrNull(local, timeZone)?.instant
  return instant === undefined ? { fault: `must be ${what} between 1880 and 2199` } : { value: instant }
}
