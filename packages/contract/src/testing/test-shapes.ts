import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { contractNumber } from '../shape.ts'

/** The schemas of one dataset as a number of the contract has them. */
export type DatasetShape = { source: TSchema; attributes: TSchema; detailAttributes?: TSchema }

/** Every number of the contract. */
export const contractNumbers = Array.from({ length: contractNumber }, (_, index) => index + 1)

/** The file with the schemas of a number. */
export function contractFile(number: number): URL {
  return new URL(`../../contracts/${number}.json`, import.meta.url)
}

/** The schemas of a number, by dataset. */
export function readContract(number: number): Record<string, DatasetShape> {
  return JSON.parse(readFileSync(contractFile(number), 'utf8'))
}

/** Any value that fits a schema of the contract. */
export function anyValueOf(schema: TSchema): fc.Arbitrary<unknown> {
  const { type, anyOf, properties, items, format, pattern = '', minimum, maximum, maxItems, ...rest } = schema as Schema
  if (rest.enum) return fc.constantFrom(...rest.enum)
  if (rest.const !== undefined) return fc.constant(rest.const)
  if (anyOf) return fc.oneof(...anyOf.map(anyValueOf))
  if (properties) {
    const members = Object.entries(properties).map(([name, each]) => [name, anyValueOf(each)] as const)
    return fc.record(Object.fromEntries(members), { noNullPrototype: true })
  }
  if (items) return fc.array(anyValueOf(items), { maxLength: Math.min(maxItems ?? 3, 3) })
  if (type === 'null') return fc.constant(null)
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer') return fc.integer({ min: minimum ?? 0, max: maximum ?? 1_000_000 })
  if (format === 'date-time') return moment.map((date) => date.toISOString())
  if (format === 'date') return moment.map((date) => date.toISOString().slice(0, 10))
  if (pattern.includes('T\\d{2}')) return moment.map((date) => date.toISOString().slice(0, 19))
  if (pattern.endsWith('\\.\\d{2}$'))
    return fc.integer({ min: -1e9, max: 1e9 }).map((cents) => (cents / 100).toFixed(2))
  if (pattern.startsWith('^[1-9]')) return fc.integer({ min: 1 }).map(String)
  if (pattern !== '') return fc.string({ minLength: 1, maxLength: 20 })
  if (type !== 'string') throw new Error(`no values of ${JSON.stringify(schema)}`)
  return fc.string({ unit: 'grapheme', maxLength: 20 })
}

const moment = fc.date({ min: new Date('1900-01-01'), max: new Date('2199-12-31'), noInvalidDate: true })

/** What of JSON Schema the contract uses. */
type Schema = {
  type?: string
  const?: string
  enum?: string[]
  anyOf?: TSchema[]
  properties?: Record<string, TSchema>
  items?: TSchema
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  maxItems?: number
}
