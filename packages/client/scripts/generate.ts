// Writes src/generated.ts from the contract, so that the published package has its types and needs no other package of this repository: npm run generate -w packages/client
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { datasets, locationAttributes, organizationAttributes, vendorProblems } from '@bridgework/contract'
import { examplesFile, generateExamples } from './generate-examples.ts'
import { generateTables, tablesFile } from './generate-tables.ts'
import type { Schema } from './schema.ts'

const file = join(import.meta.dirname, '../src/generated.ts')

/** The file's text. */
export function generate(): string {
  const parts = [
    '// Made from the contract by scripts/generate.ts. Do not edit: a test compares it.',
    '// biome-ignore-all format: it stays as the generator wrote it, so that the two can be compared',
    '',
    ...datasets.flatMap((dataset) => [
      doc(`${dataset.title}: attributes of a record. ${dataset.description}`),
      `export type ${pascal(dataset.type)}Attributes = ${typeOf(dataset.attributes, '')}`,
      '',
      doc(`A single ${dataset.type}, as \`get\` gives it.`),
      `export type ${pascal(dataset.type)}Detail = ${pascal(dataset.type)}Attributes${dataset.detailAttributes ? ` & ${typeOf(dataset.detailAttributes, '')}` : ''}`,
      '',
    ]),
    doc('A dental practice at one address.'),
    `export type LocationAttributes = ${typeOf(locationAttributes, '')}`,
    '',
    doc('A practice owner.'),
    `export type OrganizationAttributes = ${typeOf(organizationAttributes, '')}`,
    '',
    doc('Codes of the errors that the service answers with.'),
    `export type ServiceErrorCode =\n${Object.keys(vendorProblems)
      .map((code) => `  | '${code}'`)
      .join('\n')}`,
    '',
    doc('Every dataset of a location, in an order in which what others refer to comes first.'),
    `export const datasets = {\n${datasets.map(runtimeOf).join('\n')}\n} as const satisfies Record<string, DatasetDescription>`,
    '',
    doc('What the client knows of a dataset.'),
    `export type DatasetDescription = {
  type: string
  pagination: 'cursor' | 'page'
  filters: readonly ('patient_id' | 'starts_at')[]
  attributes: Readonly<Record<string, AttributeKind>>
}`,
    '',
    doc('How an attribute is written in tables. `json`: an object or a list.'),
    `export type AttributeKind = 'string' | 'integer' | 'number' | 'boolean' | 'instant' | 'date' | 'json'`,
    '',
    doc('Which types belong to which dataset.'),
    `export type DatasetTypes = {\n${datasets
      .map(
        ({ name, type, filters }) =>
          `  ${name}: {\n    type: '${type}'\n    attributes: ${pascal(type)}Attributes\n    detail: ${pascal(type)}Detail\n    filters: ${filters.length === 0 ? 'never' : filters.map((filter) => `'${filter}'`).join(' | ')}\n  }`,
      )
      .join('\n')}\n}`,
    '',
  ]
  return parts.join('\n')
}

function runtimeOf({ name, type, pagination, filters, attributes }: (typeof datasets)[number]): string {
  const kinds = Object.entries(attributes.properties as Record<string, Schema>).map(
    ([attribute, schema]) => `      ${attribute}: '${kindOf(schema)}',`,
  )
  const filterList = filters.map((filter) => `'${filter}'`).join(', ')
  return `  ${name}: {\n    type: '${type}',\n    pagination: '${pagination}',\n    filters: [${filterList}],\n    attributes: {\n${kinds.join('\n')}\n    },\n  },`
}

/** The type of values of a schema, as TypeScript. */
export function typeOf(schema: Schema, indent: string): string {
  if (schema.const !== undefined) return `'${schema.const}'`
  // Values may be added (docs/decisions/shapes.md). An editor still offers those of today.
  if (schema.enum) return [...schema.enum.map((value) => `'${value}'`), '(string & {})'].join(' | ')
  if (schema.anyOf) return schema.anyOf.map((choice) => typeOf(choice, indent)).join(' | ')
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'array') return `Array<${typeOf(schema.items ?? {}, indent)}>`
  if (schema.type === 'string' || schema.type === 'boolean' || schema.type === 'null') return schema.type
  if (schema.type !== 'object') throw new Error(`a schema of an unknown kind: ${JSON.stringify(schema)}`)
  const inner = `${indent}  `
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const described = member.description ?? member.anyOf?.find((choice) => choice.description)?.description
    const text = [described, member.deprecated && '@deprecated'].filter(Boolean).join(' ')
    return `${text ? `${inner}${doc(text)}\n` : ''}${inner}${name}: ${typeOf(member, inner)}`
  })
  return `{\n${members.join('\n')}\n${indent}}`
}

function kindOf(schema: Schema): string {
  const plain = schema.anyOf?.find((choice) => choice.type !== 'null') ?? schema
  if (plain.enum) return 'string'
  if (plain.type === 'object' || plain.type === 'array') return 'json'
  if (plain.format === 'date-time') return 'instant'
  if (plain.format === 'date') return 'date'
  return plain.type ?? 'json'
}

function pascal(type: string): string {
  return type.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase())
}

function doc(text: string): string {
  return `/** ${text} */`
}

if (process.argv[1] === import.meta.filename) {
  const files = [
    [file, generate()] as const,
    [tablesFile, generateTables()] as const,
    [examplesFile, generateExamples()] as const,
  ]
  if (process.argv.includes('--check')) {
    process.exitCode = files.every(([path, text]) => readFileSync(path, 'utf8') === text) ? 0 : 1
  } else {
    for (const [path, text] of files) writeFileSync(path, text)
    // Made of the files above.
    const { generateMirror, generateRecords, mirrorFile, recordsFile } = await import('./generate-mirror.ts')
    writeFileSync(mirrorFile, generateMirror())
    writeFileSync(recordsFile, generateRecords())
  }
}
