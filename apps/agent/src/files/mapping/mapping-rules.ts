import type { JsonValue } from '../../connector.ts'
import { type ColumnRule, converter, plainRule } from '../reading/convert.ts'
import { dateReader } from '../reading/date-format.ts'
import type { KeyPart } from '../reading/joined-key.ts'
import type { LookupMapping } from '../reading/lookup.ts'
import { type Fields, isObject } from './mapping-fields.ts'
import { ruleSettings, settingsFor } from './mapping-schema.ts'
import type { Kind } from './schema-kind.ts'

/** How columns become an attribute, as its settings say. `key`: the columns of another record's key, in the place of `column`. */
export function columnRule(
  settings: Fields,
  kind: Kind,
  { key, lookupOf }: { key: readonly KeyPart[] | null; lookupOf: (name: string) => LookupMapping | undefined },
): ColumnRule {
  const values = settings.table('values')
  const isDebitAndCredit = settings.has('debit') || settings.has('credit')
  const rule: ColumnRule = {
    ...plainRule,
    columns: isDebitAndCredit
      ? [settings.requiredText('debit'), settings.requiredText('credit')]
      : (key ?? requiredColumns(settings)),
    isKey: key !== null,
    join: typeof settings.value('join') === 'string' ? String(settings.value('join')) : plainRule.join,
    split: readSplit(settings),
    isDebitAndCredit,
    lookup: readLookup(settings, lookupOf),
    values: values && new Map(values.names().map((text) => [text, fitting(values, text, values.value(text), kind)])),
    otherwise: settings.has('otherwise')
      ? fitting(settings, 'otherwise', settings.value('otherwise'), kind)
      : undefined,
    default: settings.has('default') ? fitting(settings, 'default', settings.value('default'), kind) : undefined,
    empty: settings.texts('empty') ?? [],
    format: settings.text('format'),
    pivot: settings.wholeNumber('pivot', 0, 99),
    language: settings.text('language') ?? plainRule.language,
    ignoreOffset: settings.boolean('ignore_offset') ?? false,
    decimal: settings.oneOf('decimal', ['.', ','] as const) ?? '.',
    negate: settings.boolean('negate') ?? false,
    scale: settings.wholeNumber('scale', 0, 2) ?? 0,
    minus: settings.texts('minus') ?? [],
    plus: settings.texts('plus') ?? [],
    multiply: settings.wholeNumber('multiply', 1, 1440) ?? 1,
    separator: settings.text('separator') ?? plainRule.separator,
  }
  const own = Object.keys(settingsFor(kind, true))
  for (const [what, group] of Object.entries(groups)) {
    for (const name of Object.keys(group))
      if (settings.has(name) && !own.includes(name)) settings.fault(name, `is only for ${what}`)
  }
  if (isDebitAndCredit && settings.has('column')) settings.fault('column', 'cannot stand beside debit and credit')
  if (key !== null && settings.has('column')) settings.fault('column', 'cannot stand beside key')
  if (!isLanguage(rule.language)) settings.fault('language', 'must be a language like en or de')
  const reader = dateReader(rule)
  if (own.includes('format') && typeof reader !== 'function') settings.fault('format', reader.fault)
  if (settings.has('otherwise') && values === null && rule.lookup === null)
    settings.fault('otherwise', 'needs "values" beside it')
  return rule
}

/** The columns of a key: one, or a list that may also have constants. */
export function readKey(table: Fields, name: string): readonly KeyPart[] {
  const value = table.value(name)
  if (!Array.isArray(value)) return table.textOrTexts(name)
  return value.flatMap((part: unknown): KeyPart[] => {
    if (typeof part === 'string' && part !== '') return [part]
    if (isObject(part) && typeof part.constant === 'string' && part.constant !== '')
      return [{ constant: part.constant }]
    table.fault(name, 'must be columns, or texts like { constant = "pay" }')
    return []
  })
}

const groups = {
  'dates and times': ruleSettings.time,
  amounts: ruleSettings.money,
  'whole numbers': ruleSettings.integer,
  lists: ruleSettings.list,
}

function requiredColumns(settings: Fields): readonly KeyPart[] {
  if (!settings.has('column')) settings.fault('column', 'is missing')
  const columns = readKey(settings, 'column')
  if (settings.has('column') && columns.length === 0) settings.fault('column', 'must name a column, or several')
  return columns
}

function readSplit(settings: Fields): ColumnRule['split'] {
  const [at, part] = [settings.text('split'), settings.wholeNumber('part', -9, 9)]
  if (at === null && part === null) return null
  if (at === null || part === null || part === 0)
    settings.fault('split', 'needs "part" beside it: 1 for the first part, -1 for the last')
  return { at: at ?? ',', part: part || 1 }
}

function readLookup(settings: Fields, lookupOf: (name: string) => LookupMapping | undefined): ColumnRule['lookup'] {
  const name = settings.text('lookup')
  if (name === null) return null
  const lookup = lookupOf(name)
  if (lookup === undefined) settings.fault('lookup', `must be one of the tables below "lookups"`)
  return { name, find: (code) => lookup?.codes.get(code) }
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

/** A value in the mapping itself, checked as a text of a file would be. */
export function fitting(table: Fields, name: string, value: unknown, kind: Kind): JsonValue {
  const plainValue = typeof value === 'bigint' ? Number(value) : value
  if (plainValue === null && kind.isNullable) return null
  if (kind.kind === 'list' && Array.isArray(plainValue) && plainValue.every((each) => typeof each === 'string'))
    return plainValue
  const plain =
    typeof plainValue === 'string' || typeof plainValue === 'number' || typeof plainValue === 'boolean'
      ? plainValue
      : undefined
  const converted =
    plain === undefined
      ? { fault: 'must be a text, a number, true or false' }
      : converter(kind, plainRule)([plain], 'UTC')
  if ('value' in converted) return converted.value
  table.fault(name, converted.fault)
  return null
}
