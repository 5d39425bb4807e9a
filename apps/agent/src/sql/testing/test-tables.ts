import { findDataset } from '@bridgework/contract'
import { type Practice, simulatedDatasets, sourceLocation, sourceRecords } from '@bridgework/practice-simulator'
import type { DatasetName, JsonValue } from '../../connector.ts'
import { type Kind, kindsOf } from '../../files/mapping/schema-kind.ts'
import type { EngineName } from '../settings.ts'

/** A table of the test's practice: what stands in the database, by column; the first two are the office and the key. */
export type TestTable = {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly (readonly (string | null)[])[]
}

type Types = {
  readonly text: string
  readonly money: string
  readonly day: string
  readonly time: string
  readonly stamp: string
}

/** Types of the engines' own, so that what drivers make of them matters. */
const typesOf: Readonly<Record<Exclude<EngineName, 'sqlserver' | 'odbc'>, Types>> = {
  postgresql: { text: 'text', money: 'numeric(12,2)', day: 'date', time: 'timestamp', stamp: 'timestamptz' },
  mysql: { text: 'text', money: 'decimal(12,2)', day: 'date', time: 'datetime', stamp: 'timestamp null' },
  sqlite: { text: 'text', money: 'real', day: 'text', time: 'text', stamp: 'text' },
}

type Column = {
  name: string
  kind: Kind
  read: (attributes: Attributes, item: JsonValue | undefined) => JsonValue | undefined
}
type Attributes = Readonly<Record<string, JsonValue>>

/** How each dataset shows its changes: all ways are met by some dataset. */
const changedOf = (dataset: DatasetName): object => {
  if (dataset === 'fee_schedules') return {}
  if (dataset === 'insurance_plans')
    return {
      changed: { counter: 'select count(*) as n, sum(version) as v, max(changed_at) as at from insurance_plans' },
    }
  if (dataset === 'patients') return { changed: { column: 'changed_at', kind: 'local_time' } }
  return { changed: { column: 'version', kind: 'row_version', overlap: 0 } }
}

/** The practice as tables of a database, and the mapping that reads them. Datasets whose records hold a list have a row for each item. */
export function tablesOf(
  practice: Practice,
  engine: Exclude<EngineName, 'sqlserver' | 'odbc'>,
  hasTextInstants: boolean,
) {
  const types = hasTextInstants ? { ...typesOf[engine], stamp: typesOf[engine].text } : typesOf[engine]
  const datasets: Record<string, object> = {}
  const tables = simulatedDatasets.map((dataset): TestTable => {
    const { columns, rules, listName } = columnsOf(dataset)
    const rows = [...practice.locations.keys()].flatMap((location) =>
      sourceRecords(practice, dataset, location).flatMap(({ source_id, attributes }) => {
        const own = attributes as Attributes
        const items = listName === null ? [undefined] : (own[listName] as JsonValue[])
        return (items.length === 0 ? [undefined] : items).map((item, line) => [
          location,
          source_id,
          String(line),
          ...columns.map(({ read, kind }) => stored(read(own, item), kind, hasTextInstants)),
        ])
      }),
    )
    datasets[dataset] = {
      select: `select * from ${dataset} -- all of them`,
      ...(dataset === 'treatments' && { keys: 'select office, record_key from treatments' }),
      key: 'record_key',
      location_column: 'office',
      ...(listName !== null && { order: 'line' }),
      ...changedOf(dataset),
      attributes: rules,
    }
    return {
      name: dataset,
      rows,
      columns: [
        { name: 'office', type: 'varchar(40)' },
        { name: 'record_key', type: 'varchar(100)' },
        { name: 'line', type: 'integer' },
        ...columns.map(({ name, kind }) => ({ name, type: typeOf(kind, types) })),
      ],
    }
  })
  const locations = [...practice.locations.values()].map((location) => {
    const {
      source_id,
      practice_management_system: _,
      ...texts
    } = sourceLocation(location, { name: 'Simulated', version: null })
    return [source_id, Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== null))]
  })
  const mapping = { version: 2, read_every_minutes: 0, locations: Object.fromEntries(locations), datasets }
  return { tables, mapping, stampType: hasTextInstants ? types.time : types.stamp }
}

function columnsOf(dataset: DatasetName): { columns: Column[]; rules: object; listName: string | null } {
  const source = findDataset(dataset)?.source
  const kinds = source ? kindsOf(source) : new Map<string, Kind>()
  const columns: Column[] = []
  let listName: string | null = null
  const add = (kind: Kind, read: Column['read']) => {
    const name = `c${columns.length}`
    columns.push({ name, kind, read })
    return kind.kind === 'list' ? { column: name, separator: '/' } : name
  }
  const rules = Object.fromEntries(
    // The mapping's location tells the zone.
    [...kinds]
      .filter(([name]) => name !== 'time_zone')
      .map(([name, kind]) => {
        if (kind.kind === 'object')
          return [name, membersOf(kind.members, (member, inner) => add(inner, (own) => memberOf(own[name], member)))]
        if (kind.kind === 'objects') {
          listName = name
          return [
            name,
            { rows: membersOf(kind.members, (member, inner) => add(inner, (_, item) => memberOf(item, member))) },
          ]
        }
        return [name, add(kind, (own) => own[name])]
      }),
  )
  return { columns, rules, listName }
}

function membersOf(members: ReadonlyMap<string, Kind>, make: (name: string, kind: Kind) => unknown): object {
  return Object.fromEntries([...members].map(([name, kind]) => [name, make(name, kind)]))
}

function memberOf(value: JsonValue | undefined, member: string): JsonValue | undefined {
  return (value as Attributes | null | undefined)?.[member]
}

function stored(value: JsonValue | undefined, kind: Kind, hasTextInstants: boolean): string | null {
  if (value === null || value === undefined) return null
  if (kind.kind === 'list') return (value as string[]).join('/')
  if (kind.kind === 'boolean') return value ? '1' : '0'
  if (kind.kind === 'instant' && !hasTextInstants)
    return String(value)
      .replace('T', ' ')
      .replace(/(\.000)?Z$/, '')
  return kind.kind === 'wall_time' ? String(value).replace('T', ' ') : String(value)
}

function typeOf(kind: Kind, types: Types): string {
  switch (kind.kind) {
    case 'money':
      return types.money
    case 'date':
      return types.day
    case 'wall_time':
      return types.time
    case 'instant':
      return types.stamp
    case 'boolean':
    case 'integer':
      return 'integer'
    default:
      return types.text
  }
}
