// Writes what the Python package takes from this one: mirror.json, the tables, views and statements of a SQL mirror, so that both clients write the same
// mirrors; and records.py, the types of records. npm run generate -w packages/client
import { join } from 'node:path'
import { datasets, locationAttributes, organizationAttributes } from '@bridgework/contract'
import { datasetNames } from '../src/dataset-resource.ts'
import { directoryTables, nameOfLayout, tableNames, tableOf, tablesName, viewNames } from '../src/stores/layout.ts'
import { viewStatements } from '../src/stores/postgres/postgres-layout.ts'
import { differences } from '../src/stores/postgres/postgres-rows.ts'
import * as postgres from '../src/stores/postgres/postgres-tables.ts'
import * as sqlite from '../src/stores/sqlite/sqlite-tables.ts'
import type { Table } from '../src/stores/table.ts'
import { tables } from '../src/stores/tables.generated.ts'
import type { Schema } from './schema.ts'

const folder = join(import.meta.dirname, '../../../clients/python/bridgework')
export const mirrorFile = join(folder, 'mirror.json')
export const recordsFile = join(folder, 'records.py')

/** Stands for the name of the schema in statements of PostgreSQL, quoted. */
const schema = '@schema@'

/** The text of mirror.json. */
export function generateMirror(): string {
  const mirror = {
    datasets: Object.fromEntries(datasets.map(({ name, type, pagination }) => [name, { type, pagination }])),
    layout: tablesName,
    table_names: tableNames,
    view_names: viewNames,
    tables: Object.fromEntries([...datasetNames, ...directoryTables].map((name) => [name, columnsOf(tables[name])])),
    sqlite: {
      record_tables: sqlite.recordTables,
      tables: sqlite.createTables(),
      views: sqlite.createViews(),
      views_layout: nameOfLayout('views', sqlite.createViews()),
      indexes: sqlite.createIndexes(),
    },
    postgres: {
      record_tables: postgres.recordTables(schema),
      tables: [...datasetNames.flatMap(postgres.tablesOf), ...postgres.tablesOfDirectory()].map((table) => ({
        name: table.name,
        create: postgres.createTable(schema, table),
        columns: table.columns.map((column) => ({
          name: column.name,
          add: postgres.addColumn(schema, table.name, column),
        })),
      })),
      // The name of their layout is a hash of them with the schema's own name, joined by commas.
      views: viewStatements(schema),
      indexes: datasetNames.flatMap((name) => postgres.indexesOf(schema, name)),
      datasets: Object.fromEntries(datasetNames.map((name) => [name, statementsOf(name)])),
      directory: Object.fromEntries(directoryTables.map((name) => [name, postgres.writeDirectory(schema, name)])),
    },
  }
  return `${JSON.stringify(mirror, null, 1)}\n`
}

/** What writes a page of records, all rows anew, and compares rows with records. */
function statementsOf(dataset: (typeof datasetNames)[number]) {
  const between = `select location_id, id, attributes from ${schema}.raw_record
    where dataset = '${dataset}' and (location_id, id) > ($1::bigint, $2::bigint) and (location_id, id) <= ($3::bigint, $4::bigint)`
  const { lists } = tableOf(dataset)
  return {
    write_page: postgres.writePage(schema, dataset),
    fill: [
      postgres.writeRows(schema, dataset, between),
      ...lists.map((list) => postgres.writeItems(schema, list, between)),
    ],
    differences: differences(schema, dataset),
  }
}

function columnsOf({ columns, lists }: Table) {
  const plain = (list: Table['columns']) => list.map(({ name, kind, from }) => ({ name, kind, from }))
  return {
    columns: plain(columns),
    lists: lists.map(({ name, parent, from, columns: items }) => ({ name, parent, from, columns: plain(items) })),
  }
}

/** The text of records.py. */
export function generateRecords(): string {
  const classes: string[] = []
  const record = (type: string, attributes: Schema, title: string, suffix = '') => {
    const name = `${pascal(type)}${suffix}`
    define(classes, `${name}Attributes`, attributes, `${title}: attributes of a record.`)
    classes.push(
      `class ${name}(TypedDict):\n    """A ${type}, as the service sends it."""\n\n    id: str\n    type: str\n    attributes: ${name}Attributes\n`,
    )
  }
  for (const { type, title, attributes } of datasets) record(type, attributes as Schema, title)
  record('location', locationAttributes as Schema, 'Locations')
  record('organization', organizationAttributes as Schema, 'Organizations')
  return [
    '"""The types of records. Made from the contract. Do not edit: a test compares it."""',
    '',
    'from typing import List, Optional, TypedDict',
    '',
    '',
    classes.join('\n\n'),
  ].join('\n')
}

/** Adds the class of an object, after those of its members. */
function define(classes: string[], name: string, { properties = {} }: Schema, about: string): void {
  const members = Object.entries(properties).map(
    ([member, inner]) => `    ${member}: ${typeOf(classes, name, member, inner)}`,
  )
  classes.push(`class ${name}(TypedDict):\n    """${about}"""\n\n${members.join('\n')}\n`)
}

function typeOf(classes: string[], owner: string, member: string, schema: Schema): string {
  const choices = schema.anyOf ?? [schema]
  const [plain = {}] = choices.filter(({ type }) => type !== 'null')
  const isNullable = choices.length > 1
  const type = plainTypeOf(classes, owner, member, plain)
  return isNullable ? `Optional[${type}]` : type
}

function plainTypeOf(classes: string[], owner: string, member: string, schema: Schema): string {
  if (schema.const !== undefined || schema.enum || schema.type === 'string') return 'str'
  if (schema.type === 'integer') return 'int'
  if (schema.type === 'number') return 'float'
  if (schema.type === 'boolean') return 'bool'
  if (schema.type === 'array') return `List[${typeOf(classes, owner, member, schema.items ?? {})}]`
  if (schema.type !== 'object') throw new Error(`a schema of an unknown kind: ${JSON.stringify(schema)}`)
  const name = `${owner.replace(/Attributes$/, '')}${pascal(member)}`
  define(classes, name, schema, `The ${member.replaceAll('_', ' ')} of a record.`)
  return name
}

function pascal(text: string): string {
  return text.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase())
}
