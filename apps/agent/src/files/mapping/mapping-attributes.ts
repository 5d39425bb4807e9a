import type { JsonValue, SourceLocation } from '../../connector.ts'
import { didYouMean } from '../../enroll/did-you-mean.ts'
import { type ColumnRule, plainRule } from '../reading/convert.ts'
import type { LookupMapping } from '../reading/lookup.ts'
import { Fields, isObject } from './mapping-fields.ts'
import { columnRule, fitting, readKey } from './mapping-rules.ts'
import { isReference, settingsFor } from './mapping-schema.ts'
import type { Kind } from './schema-kind.ts'

/** Where the value of one attribute comes from. `rows`: a list of objects, one for each row of the file with the record's key; `items`: of texts. */
export type AttributeRule =
  | { readonly kind: Kind; readonly constant: JsonValue }
  | { readonly kind: Kind; readonly column: ColumnRule }
  | { readonly kind: Kind; readonly members: ReadonlyMap<string, AttributeRule> }
  | { readonly kind: Kind; readonly rows: ReadonlyMap<string, AttributeRule> }
  | { readonly kind: Kind; readonly items: ColumnRule }
  | { readonly kind: Kind; readonly ofLocation: 'time_zone' }

/** What rules are read with. `lookupOf`: undefined for a name that the mapping does not have. */
type Around = {
  readonly locations: readonly SourceLocation[]
  readonly lookupOf: (name: string) => LookupMapping | undefined
}

/** The rules of a dataset's attributes: those that the mapping gives, and the neutral ones of what it leaves out. */
export function readAttributes(
  dataset: Fields,
  kinds: ReadonlyMap<string, Kind>,
  around: Around,
): Map<string, AttributeRule> {
  const table = dataset.table('attributes')
  if (!table) dataset.fault('attributes', 'is missing')
  const rules = readMembers(table ?? new Fields({}, `${dataset.path}.attributes`, []), kinds, around)
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
  if (isLocal && around.locations.some(({ time_zone }) => time_zone === null)) {
    dataset.fault('attributes', 'has times without an offset, so every location needs a time_zone')
  }
  return rules
}

function readMembers(table: Fields, kinds: ReadonlyMap<string, Kind>, around: Around): Map<string, AttributeRule> {
  const known = [...kinds.keys()]
  for (const name of table.names()) {
    if (!kinds.has(name))
      table.fault(name, `unknown attribute.${didYouMean(name, known)} Known attributes: ${known.join(', ')}`)
  }
  return new Map(
    [...kinds].map(([name, kind]) => [
      name,
      table.has(name) ? readRule(table, name, kind, around) : unmapped(table, name, kind),
    ]),
  )
}

/** The neutral value of an attribute that the mapping leaves out. */
function unmapped(table: Fields, name: string, kind: Kind): AttributeRule {
  if (kind.isNullable) return { kind, constant: null }
  if (kind.kind === 'list' || kind.kind === 'objects') return { kind, constant: [] }
  if (kind.kind === 'boolean') return { kind, constant: false }
  table.fault(name, 'is missing; every record needs it')
  return { kind, constant: null }
}

function readRule(table: Fields, name: string, kind: Kind, around: Around): AttributeRule {
  const setting = table.value(name)
  const isMade = kind.kind === 'object' || kind.kind === 'objects'
  if (typeof setting === 'string' && setting !== '' && !isMade)
    return { kind, column: { ...plainRule, columns: [setting] } }
  const inner = isObject(setting) ? table.table(name) : null
  if (inner === null) {
    table.fault(name, isMade ? 'must be a table of members' : 'must be a column or a table')
    return { kind, constant: null }
  }
  if (kind.kind === 'object') return { kind, members: readMembers(inner, kind.members, around) }
  if (kind.kind === 'objects') {
    inner.refuseOthers(['rows'])
    const rows = inner.table('rows')
    if (!rows) inner.fault('rows', 'is missing')
    return { kind, rows: rows ? readMembers(rows, kind.members, around) : new Map() }
  }
  if (kind.kind === 'list' && inner.has('rows')) {
    inner.refuseOthers(['rows'])
    const item = readRule(inner, 'rows', { kind: 'text', isNullable: true, lengthMax: 500, lengthMin: 0 }, around)
    return { kind, items: 'column' in item ? item.column : plainRule }
  }
  if (inner.has('constant')) {
    inner.refuseOthers(['constant'])
    return { kind, constant: fitting(inner, 'constant', inner.value('constant'), kind) }
  }
  inner.refuseOthers(['constant', ...Object.keys(settingsFor(kind, isReference(name)))])
  const key = inner.has('key') ? readKey(inner, 'key') : null
  return { kind, column: columnRule(inner, kind, { key, lookupOf: around.lookupOf }) }
}
