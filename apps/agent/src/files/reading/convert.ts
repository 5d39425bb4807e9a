import type { JsonValue } from '../../connector.ts'
import { dayIn, localIn, wallTimeOrNull } from '../../open-dental/time/wall-time.ts'
import type { Kind } from '../mapping/schema-kind.ts'
import { type AmountRule, difference, readAmount } from './amounts.ts'
import { type DateReader, type DateWriting, dateReader, excelFormat } from './date-format.ts'
import { joinedKey, type KeyPart } from './joined-key.ts'

/** How the text of a column, or of several, becomes an attribute, as the mapping says. */
export type ColumnRule = AmountRule &
  DateWriting & {
    /** The texts of several columns are joined by `join`, without empty ones; with `isKey` as a key is, and all must be filled. */
    readonly columns: readonly KeyPart[]
    readonly join: string
    readonly isKey: boolean
    /** The part of the text that is used: the n-th from the left, or from the right when it is negative. */
    readonly split: { readonly at: string; readonly part: number } | null
    /** Charges are in one column and payments in another; `columns` has both. */
    readonly isDebitAndCredit: boolean
    /** The look-up file with the codes of the column. */
    readonly lookup: LookUp | null
    /** Texts of the file and their values. */
    readonly values: ReadonlyMap<string, JsonValue> | null
    /** The value of every other text. */
    readonly otherwise: JsonValue | undefined
    /** The value of an empty text. */
    readonly default: JsonValue | undefined
    /** Texts that mean an empty value, as 00/00/0000. */
    readonly empty: readonly string[]
    /** True: days and times are meant as they are written, whatever offset follows them. */
    readonly ignoreOffset: boolean
    /** Minutes, or whatever one unit of a whole number is. */
    readonly multiply: number
    readonly separator: string
  }

/** The text of a code in a look-up file; undefined: the file does not have the code. */
type LookUp = { readonly name: string; readonly find: (code: string) => string | undefined }

/** A rule without any setting. */
export const plainRule: ColumnRule = {
  columns: [],
  join: ' ',
  isKey: false,
  split: null,
  isDebitAndCredit: false,
  lookup: null,
  values: null,
  otherwise: undefined,
  default: undefined,
  empty: [],
  format: null,
  pivot: null,
  language: 'en',
  ignoreOffset: false,
  decimal: '.',
  negate: false,
  scale: 0,
  minus: [],
  plus: [],
  multiply: 1,
  separator: ',',
}

/** The attribute's value, or which rule the text breaks. Never says the text itself: it may be a patient's. */
export type Converted = { readonly value: JsonValue } | { readonly fault: string }
/** `cells`: one for each column of the rule. */
export type Converter = (cells: readonly (JsonValue | undefined)[], timeZone: string | null) => Converted

/** The conversion of columns into one kind of attribute. The rule was checked: its format can be read. */
export function converter(kind: Kind, rule: ColumnRule): Converter {
  if (rule.isDebitAndCredit) return debitAndCredit(kind, rule)
  const read = dateReader(rule)
  const convert = ofKind(kind, rule, typeof read === 'function' ? read : () => null)
  return (cells, timeZone) => {
    if (cells.length === 1 && Array.isArray(cells[0]) && kind.kind === 'list')
      return { value: cells[0].map((item) => textOf(item)) }
    if (cells.some(isContainer)) return { fault: 'must be a plain value, not a list or an object' }
    const code = partOf(rule.isKey ? (keyOf(cells) ?? '') : joined(cells, rule.join), rule)
    const text = code === '' || rule.lookup === null ? code : (rule.lookup.find(code) ?? null)
    if (text === null) {
      return rule.otherwise === undefined
        ? { fault: `must be a code of the look-up file "${rule.lookup?.name}"` }
        : { value: rule.otherwise }
    }
    const mapped = rule.values?.get(text)
    if (mapped !== undefined) return { value: mapped }
    if (text === '' || rule.empty.includes(text)) return emptyValue(kind, rule)
    if (rule.values !== null && rule.otherwise !== undefined) return { value: rule.otherwise }
    if (rule.values !== null)
      return { fault: `must be one of the texts in "values": ${[...rule.values.keys()].join(', ')}` }
    return convert(text, timeZone)
  }
}

/** A list or an object of NDJSON. */
export function isContainer(cell: JsonValue | undefined): boolean {
  return typeof cell === 'object' && cell !== null
}

function textOf(cell: JsonValue | undefined): string {
  return cell === undefined || cell === null ? '' : String(cell).replaceAll('\u0000', '').trim()
}

/** The key of a record; null when a part of it is empty. */
export function keyOf(cells: readonly (JsonValue | undefined)[]): string | null {
  const parts = cells.map(textOf)
  return parts.includes('') ? null : joinedKey(parts)
}

function joined(cells: readonly (JsonValue | undefined)[], join: string): string {
  if (cells.length === 1) return textOf(cells[0])
  return cells
    .map(textOf)
    .filter((text) => text !== '')
    .join(join)
}

function partOf(text: string, { split }: ColumnRule): string {
  if (split === null) return text
  const parts = text.split(split.at)
  return (parts.at(split.part < 0 ? split.part : split.part - 1) ?? '').trim()
}

function debitAndCredit(kind: Kind, rule: ColumnRule): Converter {
  const convert = converter(kind, { ...rule, isDebitAndCredit: false, default: '0.00', negate: false })
  return (cells, timeZone) => {
    if (cells.every((cell) => textOf(cell) === '' || rule.empty.includes(textOf(cell)))) return emptyValue(kind, rule)
    const [debit, credit] = cells.map((cell) => convert([cell], timeZone))
    if (debit === undefined || 'fault' in debit) return debit ?? { fault: 'has no debit' }
    if (credit === undefined || 'fault' in credit) return credit ?? { fault: 'has no credit' }
    const [owed, paid] = [String(debit.value), String(credit.value)]
    return { value: rule.negate ? difference(paid, owed) : difference(owed, paid) }
  }
}

function emptyValue(kind: Kind, rule: ColumnRule): Converted {
  if (rule.default !== undefined) return { value: rule.default }
  if (kind.isNullable) return { value: null }
  if (kind.kind === 'list') return { value: [] }
  if (kind.kind === 'boolean') return { value: false }
  if (kind.kind === 'text' && kind.lengthMin === 0) return { value: '' }
  if (rule.otherwise !== undefined) return { value: rule.otherwise }
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
      return (text) => asInteger(text, kind.least, kind.most, rule.multiply)
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

function asInteger(text: string, least: number, most: number, multiply: number): Converted {
  const value = /^[+-]?\d{1,15}(\.0+)?$/.test(text) ? Number(text) * multiply : Number.NaN
  return value >= least && value <= most ? { value } : { fault: `must be a whole number from ${least} to ${most}` }
}

function asMoney(text: string, rule: ColumnRule): Converted {
  const value = readAmount(text, rule)
  if (value !== null) return { value }
  if (rule.scale > 0) return { fault: `must be digits alone, the last ${rule.scale} of which are decimals` }
  return {
    fault: `must be an amount with at most two decimals, like ${rule.decimal === '.' ? '1,234.50' : '1.234,50'}`,
  }
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
  if (parts === null && rule.format === excelFormat)
    return { fault: `must be ${what}, as the number of a spreadsheet, like 46356` }
  if (parts === null)
    return { fault: `must be ${what}, like ${rule.format ?? (kind === 'date' ? 'YYYY-MM-DD' : 'YYYY-MM-DDTHH:mm:ss')}` }
  const local = `${parts.day}T${parts.time}`
  const offset = rule.ignoreOffset ? null : parts.offset
  if (offset === null && kind !== 'instant') return { value: kind === 'date' ? parts.day : local }
  if (offset !== null) {
    const instant = new Date(`${local}${offset}`)
    if (kind === 'instant') return { value: instant.toISOString() }
    if (timeZone === null) return { fault: 'needs the "time_zone" of its location, for its time has an offset' }
    return { value: kind === 'date' ? dayOf(instant, timeZone) : localIn(timeZone, instant) }
  }
  if (timeZone === null) return { fault: 'needs the "time_zone" of its location, for its time has no offset' }
  const instant = wallTimeOrNull(local, timeZone)?.instant
  return instant === undefined ? { fault: `must be ${what} between 1880 and 2199` } : { value: instant }
}

/**
 * The day at the location. Programs that write a day as the instant of its midnight often take a summer time that was not in force that year (Windows
 * kept no rules of earlier years): exactly one hour before midnight is meant as midnight.
 */
function dayOf(instant: Date, timeZone: string): string {
  const isHourBefore = localIn(timeZone, instant).endsWith('T23:00:00')
  return dayIn(timeZone, isHourBefore ? new Date(instant.getTime() + hourMs) : instant)
}

const hourMs = 60 * 60 * 1000
