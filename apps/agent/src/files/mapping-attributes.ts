import type { JsonValue, SourceLocation } from '../connector.ts'
import { didYouMean } from '../enroll/did-you-mean.ts'
import { type ColumnRule, converter } from './convert.ts'
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

const columnSettings = ['column', 'values', 'otherwise', 'default', 'empty', 'format', 'decimal', 'negate', 'separator']

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
    if (kind.kind !== 'object' && kind.kind !== 'objects')
      return { kind, column: columnRule(name, new Fields({ column: setting }, '', []), kind) }
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
  inner.refuseOthers(['constant', ...columnSettings])
  return { kind, column: columnRule(name, inner, kind) }
}

function columnRule(_name: string, settings: Fields, kind: Kind): ColumnRule {
  const values = settings.table('values')
  const rule: ColumnRule = {
    column: settings.requiredText('column'),
    values: values && new Map(values.names().map((text) => [text, fitting(values, text, values.value(text), kind)])),
    otherwise: settings.has('otherwise')
      ? fitting(settings, 'otherwise', settings.value('otherwise'), kind)
      : undefined,
    default: settings.has('default') ? fitting(settings, 'default', settings.value('default'), kind) : undefined,
    empty: settings.texts('empty') ?? [],
    format: settings.text('format'),
    decimal: settings.oneOf('decimal', ['.', ','] as const) ?? '.',
    negate: settings.boolean('negate') ?? false,
    separator: settings.text('separator') ?? ',',
  }
  const isTime = kind.kind === 'date' || kind.kind === 'instant' || kind.kind === 'wall_time'
  if (rule.format !== null && !isTime) settings.fault('format', 'is only for dates and times')
  const reader = dateReader(rule.format)
  if (isTime && typeof reader !== 'function') settings.fault('format', reader.fault)
  if (settings.has('decimal') && kind.kind !== 'money') settings.fault('decimal', 'is only for amounts')
  if (settings.has('negate') && kind.kind !== 'money') settings.fault('negate', 'is only for amounts')
  if (settings.has('separator') && kind.kind !== 'list') settings.fault('separator', 'is only for lists')
  if (settings.has('otherwise') && values === null) settings.fault('otherwise', 'needs "values" beside it')
  return rule
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
  const rule = { column: '', values: null, otherwise: undefined, default: undefined, empty: [], format: null }
  const converted =
    plain === undefined
      ? { fault: 'must be a text, a number, true or false' }
      : converter(kind, { ...rule, decimal: '.', negate: false, separator: ',' })(plain, 'UTC')
  if ('value' in converted) return converted.value
  table.fault(name, converted.fault)
  return null
}
