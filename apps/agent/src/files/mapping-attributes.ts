import type { JsonValue, SourceLocation } from '../connector.ts'
import { didYouMean } from '../enroll/did-you-mean.ts'
import { type ColumnRule, converter, plainRule } from './convert.ts'
import { dateReader } from './date-format.ts'
import { Fields, isObject } from './mapping-fields.ts'
import type { Kind } from './schema-kind.ts'

/** How one attribute comes about. `rows`: a list of objects, one for each row of the file with the record's key. */
export type AttributeRule =
  | { readonly kind: Kind; readonly constant: JsonValue }
  | { readonly kind: Kind; readonly column: ColumnRule }
  | { readonly kind: Kind; readonly members: ReadonlyMap<string, AttributeRule> }
  | { readonly kind: Kind; readonly rows: ReadonlyMap<string, AttributeRule> }
  | { readonly kind: Kind; readonly ofLocation: 'time_zone' }

const settingsOf = {
  always: ['column', 'join', 'part', 'split', 'values', 'otherwise', 'default', 'empty'],
  time: ['format', 'pivot', 'language', 'ignore_offset'],
  money: ['debit', 'credit', 'decimal', 'negate', 'scale', 'minus', 'plus'],
  integer: ['multiply'],
  list: ['separator'],
} as const

/** The rules of a dataset's attributes: those that the mapping gives, and the neutral ones of what it leaves out. */
export function readAttributes(
  dataset: Fields,
  kinds: ReadonlyMap<string, Kind>,
  locations: readonly SourceLocation[],
): Map<string, AttributeRule> {
  const table = dataset.table('attributes')
  if (!table) dataset.fault('attributes', 'is missing')
  const rules = readMembers(table ?? new Fields({}, `${dataset.path}.attributes`, []), kinds)
  if (kinds.get('time_zone') && !table?.has('time_zone')) {
    rules.set('time_zone', {
      kind: { kind: 'text', isNullable: true, lengthMax: 500, lengthMin: 0 },
      ofLocation: 'time_zone',
    })
  }
  const isLocal = [...rules.values()].some(
    (rule) =>
      rule.kind.kind === 'instant' &&
      'column' in rule &&
      rule.column.format?.includes('Z') !== true &&
      rule.column.format !== null,
  )
  if (isLocal && locations.some(({ time_zone }) => time_zone === null)) {
    dataset.fault('attributes', 'has times without an offset, so every location needs a time_zone')
  }
  return rules
}

function readMembers(table: Fields, kinds: ReadonlyMap<string, Kind>): Map<string, AttributeRule> {
  const known = [...kinds.keys()]
  for (const name of table.names()) {
    if (!kinds.has(name))
      table.fault(name, `unknown attribute.${didYouMean(name, known)} Known attributes: ${known.join(', ')}`)
  }
  return new Map(
    [...kinds].map(([name, kind]) => [
      name,
      table.has(name) ? readRule(table, name, kind) : unmapped(table, name, kind),
    ]),
  )
}

/** What an attribute is that the mapping does not name: unknown. */
function unmapped(table: Fields, name: string, kind: Kind): AttributeRule {
  if (kind.isNullable) return { kind, constant: null }
  if (kind.kind === 'list' || kind.kind === 'objects') return { kind, constant: [] }
  if (kind.kind === 'boolean') return { kind, constant: false }
  table.fault(name, 'is missing; every record needs it')
  return { kind, constant: null }
}

function readRule(table: Fields, name: string, kind: Kind): AttributeRule {
  const setting = table.value(name)
  if (typeof setting === 'string') {
    if (setting !== '' && kind.kind !== 'object' && kind.kind !== 'objects')
      return { kind, column: { ...plainRule, columns: [setting] } }
  }
  if (!isObject(setting)) {
    table.fault(
      name,
      kind.kind === 'object' || kind.kind === 'objects' ? 'must be a table of members' : 'must be a column or a table',
    )
    return { kind, constant: null }
  }
  const rule = new Fields(setting, `${table.path}.${name}`, [])
  const inner = table.table(name) ?? rule
  if (kind.kind === 'object') return { kind, members: readMembers(inner, kind.members) }
  if (kind.kind === 'objects') {
    inner.refuseOthers(['rows'])
    const rows = inner.table('rows')
    if (!rows) inner.fault('rows', 'is missing')
    return { kind, rows: rows ? readMembers(rows, kind.members) : new Map() }
  }
  if (inner.has('constant')) {
    inner.refuseOthers(['constant'])
    return { kind, constant: fitting(inner, 'constant', inner.value('constant'), kind) }
  }
  inner.refuseOthers(['constant', ...Object.values(settingsOf).flat()])
  return { kind, column: columnRule(inner, kind) }
}

function columnRule(settings: Fields, kind: Kind): ColumnRule {
  const values = settings.table('values')
  const isDebitAndCredit = settings.has('debit') || settings.has('credit')
  const rule: ColumnRule = {
    columns: isDebitAndCredit
      ? [settings.requiredText('debit'), settings.requiredText('credit')]
      : requiredColumns(settings),
    join: settings.text('join') ?? plainRule.join,
    split: readSplit(settings),
    isDebitAndCredit,
    lookup: null,
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
  for (const [what, names] of [
    ['dates and times', settingsOf.time],
    ['amounts', settingsOf.money],
    ['whole numbers', settingsOf.integer],
    ['lists', settingsOf.list],
  ] as const) {
    if (isFor(kind, what)) continue
    for (const name of names) if (settings.has(name)) settings.fault(name, `is only for ${what}`)
  }
  if (isDebitAndCredit && settings.has('column')) settings.fault('column', 'cannot stand beside debit and credit')
  if (!isLanguage(rule.language)) settings.fault('language', 'must be a language like en or de')
  const reader = dateReader(rule)
  if (isFor(kind, 'dates and times') && typeof reader !== 'function') settings.fault('format', reader.fault)
  if (settings.has('otherwise') && values === null) settings.fault('otherwise', 'needs "values" beside it')
  return rule
}

function requiredColumns(settings: Fields): readonly string[] {
  if (!settings.has('column')) settings.fault('column', 'is missing')
  const columns = settings.textOrTexts('column')
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

function isFor(kind: Kind, what: 'dates and times' | 'amounts' | 'whole numbers' | 'lists'): boolean {
  switch (kind.kind) {
    case 'date':
    case 'instant':
    case 'wall_time':
      return what === 'dates and times'
    case 'money':
      return what === 'amounts'
    case 'integer':
      return what === 'whole numbers'
    default:
      return kind.kind === 'list' && what === 'lists'
  }
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

/** A value that stands in the mapping itself: held against the attribute as a text of a file would be. */
function fitting(table: Fields, name: string, value: unknown, kind: Kind): JsonValue {
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
