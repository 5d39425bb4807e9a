import type { TSchema } from 'typebox'

/** What an attribute of the contract takes, as far as a text of a file must be turned into it. */
export type Kind =
  | { kind: 'text'; isNullable: boolean; lengthMax: number; lengthMin: number }
  | { kind: 'enum'; isNullable: boolean; values: readonly string[] }
  | { kind: 'date' | 'instant' | 'wall_time'; isNullable: boolean }
  | { kind: 'money' | 'boolean'; isNullable: boolean }
  | { kind: 'integer'; isNullable: boolean; least: number; most: number }
  | { kind: 'list'; isNullable: boolean }
  | { kind: 'object' | 'objects'; isNullable: boolean; members: ReadonlyMap<string, Kind> }

/** The keywords of JSON Schema that the contract uses. */
type Schema = {
  type?: string
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  enum?: unknown[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

/** The kinds of an object schema's members. */
export function kindsOf(schema: TSchema): ReadonlyMap<string, Kind> {
  // TypeBox schemas are JSON Schema; their types only leave the keywords out.
  return membersOf(schema as Schema)
}

function membersOf(schema: Schema): Map<string, Kind> {
  return new Map(Object.entries(schema.properties ?? {}).map(([name, member]) => [name, kindOf(member, false)]))
}

function kindOf(schema: Schema, isNullable: boolean): Kind {
  const some = schema.anyOf?.find((member) => member.type !== 'null')
  if (some) return kindOf(some, true)
  if (schema.enum) return { kind: 'enum', isNullable, values: schema.enum.map(String) }
  switch (schema.type) {
    case 'boolean':
      return { kind: 'boolean', isNullable }
    case 'integer':
      return { kind: 'integer', isNullable, least: schema.minimum ?? 0, most: schema.maximum ?? 0 }
    case 'object':
      return { kind: 'object', isNullable, members: membersOf(schema) }
    case 'array':
      return schema.items?.type === 'object'
        ? { kind: 'objects', isNullable, members: membersOf(schema.items) }
        : { kind: 'list', isNullable }
    default:
      return textKind(schema, isNullable)
  }
}

function textKind({ format, pattern, minLength, maxLength }: Schema, isNullable: boolean): Kind {
  if (format === 'date') return { kind: 'date', isNullable }
  if (format === 'date-time') return { kind: 'instant', isNullable }
  if (pattern?.startsWith('^\\d{4}-')) return { kind: 'wall_time', isNullable }
  if (pattern?.startsWith('^-?\\d')) return { kind: 'money', isNullable }
  return { kind: 'text', isNullable, lengthMax: maxLength ?? 500, lengthMin: minLength ?? 0 }
}
