import type { TSchema } from 'typebox'

/** The keywords of JSON Schema that the contract uses. */
type Schema = {
  type?: string
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  const?: unknown
  enum?: unknown[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
}

/** `field`: its path, null for the whole value. `errors`: one sentence that names the field and the rule. */
export type Mismatch = { field: string | null; errors: string }

/**
 * Why a value does not fit a schema. Names the field and the rule and never the value: what is refused may be a patient's. Knows the kinds
 * of schema that the contract uses.
 */
export function explainMismatch(schema: TSchema, value: unknown): Mismatch {
  // TypeBox schemas are JSON Schema; their types only leave the keywords out.
  return findMismatch(schema as Schema, value, '') ?? mismatch('', 'is not valid.')
}

function mismatch(path: string, rule: string): Mismatch {
  return path === '' ? { field: null, errors: `the line ${rule}` } : { field: path, errors: `${path} ${rule}` }
}

function findMismatch(schema: Schema, value: unknown, path: string): Mismatch | null {
  if (schema.anyOf) {
    if (schema.anyOf.some((member) => findMismatch(member, value, path) === null)) return null
    const some = schema.anyOf.find((member) => member.type !== 'null')
    const isContainer = some && (some.type === 'object' || some.type === 'array')
    return isContainer && typeof value === 'object' ? findMismatch(some, value, path) : rule(schema, path)
  }
  if (schema.type === 'object') return objectMismatch(schema, value, path)
  if (schema.type === 'array') {
    if (!Array.isArray(value) || value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) return rule(schema, path)
    for (const [index, item] of value.entries()) {
      const found = findMismatch(schema.items ?? {}, item, `${path}[${index}]`)
      if (found) return found
    }
    return null
  }
  return fits(schema, value) ? null : rule(schema, path)
}

function objectMismatch({ properties = {}, required = [] }: Schema, value: unknown, path: string): Mismatch | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return mismatch(path, 'must be an object.')
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(properties, key))
  if (unknown !== undefined)
    return mismatch(path, `has a member that is not known. Known: ${Object.keys(properties).join(', ')}.`)
  for (const [key, member] of Object.entries(properties)) {
    const inner = path === '' ? key : `${path}.${key}`
    if (!Object.hasOwn(value, key)) {
      if (required.includes(key)) return mismatch(inner, 'is missing.')
      continue
    }
    const found = findMismatch(member, (value as Record<string, unknown>)[key], inner)
    if (found) return found
  }
  return null
}

function fits(schema: Schema, value: unknown): boolean {
  if (schema.type === 'null') return value === null
  if ('const' in schema) return value === schema.const
  if (schema.enum) return schema.enum.some((allowed) => allowed === value)
  if (schema.type === 'boolean') return typeof value === 'boolean'
  if (schema.type === 'integer') {
    return (
      Number.isInteger(value) &&
      Number(value) >= Number(schema.minimum ?? value) &&
      Number(value) <= Number(schema.maximum ?? value)
    )
  }
  if (schema.type !== 'string' || typeof value !== 'string') return false
  const length = [...value].length
  const isLength = length >= (schema.minLength ?? 0) && length <= (schema.maxLength ?? Number.POSITIVE_INFINITY)
  return (
    isLength && (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value)) && isDate(schema, value)
  )
}

/** A day, or an instant, that exists: JavaScript turns 30 February into 1 March. */
function isDate({ format }: Schema, value: string): boolean {
  if (format !== 'date' && format !== 'date-time') return true
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) return false
  return format === 'date-time' || (value.length === 10 && date.toISOString().startsWith(value))
}

function rule(schema: Schema, path: string): Mismatch {
  return mismatch(path, `must be ${expected(schema)}.`)
}

function expected(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map((member) => expected(member)).join(' or ')
  if (schema.type === 'null') return 'null'
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return `one of ${schema.enum.join(', ')}`
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'integer') {
    return schema.minimum === undefined
      ? 'a whole number'
      : `a whole number from ${schema.minimum} to ${schema.maximum}`
  }
  if (schema.type === 'array') return schema.maxItems === undefined ? 'a list' : `a list of at most ${schema.maxItems}`
  if (schema.type !== 'string') return 'of another kind'
  if (schema.format === 'date') return 'a calendar date that exists, YYYY-MM-DD'
  if (schema.format === 'date-time')
    return schema.pattern === undefined ? 'a date-time' : 'an instant in UTC, YYYY-MM-DDTHH:MM:SS.sssZ'
  if (schema.pattern?.startsWith('^\\d{4}-')) return 'a time on the wall clock, YYYY-MM-DDTHH:MM:SS'
  if (schema.pattern?.includes(':')) return 'a time of day, HH:MM'
  if (schema.minLength !== undefined)
    return `a string of ${schema.minLength} to ${schema.maxLength} characters without control characters`
  if (schema.pattern?.includes('\\d')) return 'a decimal string with two digits, like "125.00"'
  if (schema.pattern !== undefined) return `a string of at most ${schema.maxLength} characters without NUL`
  return schema.maxLength === undefined ? 'a string' : `a string of at most ${schema.maxLength} characters`
}
