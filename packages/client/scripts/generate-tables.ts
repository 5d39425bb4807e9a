// Writes src/stores/tables.generated.ts, the columns of a mirror's tables, from the contract: npm run generate -w packages/client
import { join } from 'node:path'
import { datasets, locationAttributes, organizationAttributes } from '@bridgework/contract'
import type { ColumnKind, TableColumn, TableList } from '../src/stores/table.ts'
import type { Schema } from './schema.ts'

type Tables = Record<string, { title: string; columns: TableColumn[]; lists: TableList[] }>

export const tablesFile = join(import.meta.dirname, '../src/stores/tables.generated.ts')

/** The file's text. */
export function generateTables(): string {
  const tables: Tables = {}
  for (const { name, type, title, attributes, refersTo } of datasets) {
    const targets = new Map(refersTo.map(({ attribute, dataset }) => [attribute, dataset]))
    tables[name] = { title, ...tableOf(type, attributes as Schema, targets) }
  }
  const ofLocation = new Map([['organization_id', 'organizations']])
  tables.locations = { title: 'Locations', ...tableOf('location', locationAttributes as Schema, ofLocation) }
  tables.organizations = { title: 'Organizations', ...tableOf('organization', organizationAttributes as Schema) }
  return [
    '// Made from the contract by scripts/generate-tables.ts. Do not edit: a test compares it.',
    '// biome-ignore-all format: it stays as the generator wrote it, so that the two can be compared',
    "import type { Table } from './table.ts'",
    '',
    '/** The tables of a mirror: one for each dataset, with one for each of its lists; and the directory. */',
    'export const tables = {',
    ...Object.entries(tables).flatMap(([name, { title, columns, lists }]) => [
      `  ${name}: {`,
      `    title: '${title}',`,
      '    columns: [',
      ...columns.map((column) => `      ${JSON.stringify(column)},`),
      '    ],',
      '    lists: [',
      ...lists.map((list) => `      ${JSON.stringify(list)},`),
      '    ],',
      '  },',
    ]),
    '} as const satisfies Record<string, Table>',
    '',
  ].join('\n')
}

/** The columns of a table: one for each attribute, and for each member of an attribute that is an object. */
function tableOf(
  type: string,
  { properties = {} }: Schema,
  targets: ReadonlyMap<string, string> = new Map(),
): { columns: TableColumn[]; lists: TableList[] } {
  const columns: TableColumn[] = []
  const lists: TableList[] = []
  for (const [name, schema] of Object.entries(properties)) {
    const target = targets.get(name)
    const plain = plainOf(schema)
    if (plain.properties?.data) {
      // A record that is embedded: its id leads to the row that has the rest.
      const about = describe(plain.properties.data)
      columns.push({
        name: `${name}_id`,
        kind: 'id',
        from: [name, 'data', 'id'],
        about,
        ...to(target),
        ...since(schema),
      })
    } else if (plain.properties) {
      for (const [member, inner] of Object.entries(plain.properties)) {
        const about = describe(inner)
        columns.push({
          name: `${name}_${member}`,
          kind: kindOf(inner),
          from: [name, member],
          about,
          ...since(schema, inner),
        })
      }
    } else {
      const isId = target !== undefined && !plain.items
      const kind = isId ? 'id' : kindOf(schema)
      columns.push({ name, kind, from: [name], about: describe(schema), ...(isId && { to: target }), ...since(schema) })
      if (plain.items && name !== 'datasets_granted') lists.push(listOf(type, name, plain, target))
    }
  }
  return { columns, lists }
}

/** The table of a list: `treatment_ids` of an appointment are the rows of `appointment_treatments`. */
function listOf(
  type: string,
  name: string,
  { items = {}, description }: Schema,
  target: string | undefined,
): TableList {
  const parent = `${type}_id`
  const about = description ?? ''
  if (items.properties) {
    const columns = Object.entries(items.properties).map(([member, schema]) => {
      const kind = kindOf(schema)
      return { name: member, kind, from: [member], about: describe(schema), ...(kind === 'id' ? to(target) : {}) }
    })
    return { name: `${type}_${name}`, parent, from: name, about, columns }
  }
  const thing = name.replace(/_ids$/, '')
  const column = { kind: kindOf(items), from: [], about: items.description ?? about, ...to(target) }
  if (thing !== name)
    return { name: `${type}_${thing}s`, parent, from: name, about, columns: [{ name: `${thing}_id`, ...column }] }
  return { name: `${type}_${name}`, parent, from: name, about, columns: [{ name: singular(name), ...column }] }
}

function singular(name: string): string {
  const words: Record<string, string> = { teeth: 'tooth' }
  const word = words[name]
  if (word === undefined) throw new Error(`what is one of ${name} called?`)
  return word
}

/** The latest of the schemas that a column needs. */
function since(...schemas: readonly Schema[]): { since?: number } {
  const number = Math.max(...schemas.map((schema) => schema['x-since'] ?? 1))
  return number === 1 ? {} : { since: number }
}

function to(target: string | undefined): { to?: string } {
  return target === undefined ? {} : { to: target }
}

function plainOf(schema: Schema): Schema {
  return schema.anyOf?.find((choice) => choice.type !== 'null') ?? schema
}

function describe(schema: Schema): string {
  return schema.description ?? plainOf(schema).description ?? ''
}

function kindOf(schema: Schema): ColumnKind {
  const { type, format, pattern = '', properties, items, ...plain } = plainOf(schema)
  if (plain.enum || plain.const !== undefined) return 'text'
  if (properties || items) return 'json'
  if (format === 'date-time') return 'instant'
  if (format === 'date') return 'date'
  if (type === 'integer' || type === 'number' || type === 'boolean') return type
  if (pattern.endsWith('\\.\\d{2}$')) return 'decimal'
  if (pattern === '^[1-9]\\d{0,18}$') return 'id'
  if (pattern.includes('T\\d{2}')) return 'wall_time'
  return 'text'
}
