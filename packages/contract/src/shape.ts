import { type TSchema, Type } from 'typebox'
import type { Dataset, SourceRecord } from './dataset.ts'

/**
 * The contract's number: it rises when an attribute, a dataset or a value of an enumeration is added. Nothing of an earlier number is taken away or
 * changed: `contracts/<number>.json` has the schemas of each, and a test compares them (docs/decisions/shapes.md).
 */
export const contractNumber = 2

/**
 * Says that an attribute came with this number of the contract. What is given is the attribute's own schema or reference, and allows null: older agents
 * do not send it.
 */
export function since<T extends object>(number: number, attribute: T): T {
  // A copy would lose what TypeBox keeps in members that are not enumerable.
  return number === 1 ? attribute : Object.assign(attribute, { 'x-since': number })
}

/**
 * Says that an attribute has a better successor, which its description then names. It is filled for at least 12 months after the changelog says so, and may
 * be null after that: it must allow it.
 */
export function deprecated<T extends TSchema>(attribute: T, successor: string): T {
  const { description, anyOf = [] }: Described = attribute
  const about = description ?? anyOf.find((each) => each.description !== undefined)?.description
  return Object.assign(attribute, { deprecated: true, description: `${about}. Use ${successor} instead` })
}

type Described = TSchema & { description?: string; anyOf?: Described[] }

/** Since which number a schema has been part of the contract. */
export function sinceOf(schema: object): number {
  return 'x-since' in schema ? Number(schema['x-since']) : 1
}

/** A value that an enumeration got later: since which number, and what stands for it where it is not known. */
export type LaterValue = { readonly since: number; readonly before: string | null }

/** The values that an enumeration got later. */
export function laterValues(schema: object): Readonly<Record<string, LaterValue>> {
  // Only `oneOf` writes it.
  return 'x-later-values' in schema ? (schema['x-later-values'] as Record<string, LaterValue>) : {}
}

/**
 * The number of a dataset's rendering, stored with the documents of each location: every number of the contract that brings an attribute raises it, and
 * so does the dataset's own number.
 */
export function renderingOf({ rendering = 1, attributes }: Pick<Dataset, 'rendering' | 'attributes'>): number {
  return rendering + newestAttribute(attributes) - 1
}

function newestAttribute(schema: TSchema): number {
  return Math.max(sinceOf(schema), ...partsOf(schema).map(newestAttribute))
}

/** The numbers up to this one with which something of the dataset's source came, rising. None: the dataset itself came later. */
export function numbersOf(dataset: Pick<Dataset, 'since' | 'source'>, upTo: number): number[] {
  const numbers = numbersWithin(dataset.source).map((number) => Math.max(number, dataset.since ?? 1))
  return [...new Set(numbers)].filter((number) => number <= upTo).sort((one, other) => one - other)
}

function numbersWithin(schema: TSchema): number[] {
  const later = Object.values(laterValues(schema)).map((value) => value.since)
  return [sinceOf(schema), ...later, ...partsOf(schema).flatMap(numbersWithin)]
}

function partsOf(schema: TSchema): TSchema[] {
  if (Type.IsUnion(schema)) return schema.anyOf
  if (Type.IsArray(schema)) return [schema.items]
  return Type.IsObject(schema) ? Object.values(schema.properties) : []
}

/**
 * Leaves out of a source what came after this number, and what came after the first and is null: so a record that has nothing of it is the same to every
 * agent and service. A value of an enumeration that came later becomes the one that stands for it. Members that the contract does not know stay.
 */
export function sourceAt(dataset: Pick<Dataset, 'source'>, number: number): (attributes: unknown) => unknown {
  return (
    changing(dataset.source, {
      members: (properties) => {
        const later = Object.entries(properties).filter(([, member]) => sinceOf(member) > 1)
        if (later.length === 0) return null
        const known = new Map(later.map(([name, member]) => [name, sinceOf(member) <= number]))
        return (value) =>
          Object.fromEntries(
            Object.entries(value).filter(
              ([name, each]) => known.get(name) !== false && !(known.has(name) && each === null),
            ),
          )
      },
      value: (schema) => {
        const later = laterValues(schema)
        if (Object.keys(later).length === 0) return null
        return (value) => {
          let known = value
          for (let each = later[String(known)]; each && each.since > number; each = later[String(known)])
            known = each.before
          return known
        }
      },
    }) ?? ((attributes) => attributes)
  )
}

/** Gives a source that may be of an older agent every member that the contract has: null for what came later. Changes what it is given. */
export function completeSource(dataset: Pick<Dataset, 'source'>): (source: SourceRecord) => SourceRecord {
  const complete = changing(dataset.source, {
    members: (properties) => {
      const later = Object.entries(properties).flatMap(([name, member]) => (sinceOf(member) > 1 ? [name] : []))
      if (later.length === 0) return null
      return (value) => {
        for (const name of later) value[name] ??= null
        return value
      }
    },
    value: () => null,
  })
  // What it gets is an object, and stays that object.
  return complete ? (source) => complete(source) as SourceRecord : (source) => source
}

/** The schema of a line's attributes: a source in which what came later may be missing. */
export function lineSource<T extends TSchema>(schema: T): T {
  // The same kind of schema, of which some members are optional: the static type is that of a complete source.
  return optionalLater(schema) as T
}

function optionalLater(schema: TSchema): TSchema {
  if (numbersWithin(schema).every((number) => number === 1)) return schema
  if (Type.IsUnion(schema)) return Type.Union(schema.anyOf.map(optionalLater), optionsOf(schema))
  if (Type.IsArray(schema)) return Type.Array(optionalLater(schema.items), optionsOf(schema))
  if (!Type.IsObject(schema)) return schema
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const inner = optionalLater(member)
    return [name, sinceOf(member) > 1 ? Type.Optional(inner) : inner]
  })
  return Type.Object(Object.fromEntries(members), optionsOf(schema))
}

function optionsOf(schema: TSchema): Record<string, unknown> {
  const {
    type: _,
    items: __,
    properties: ___,
    required: ____,
    anyOf: _____,
    ...options
  } = schema as Record<string, unknown>
  return options
}

/** The schema as it was with this number. Undefined: it came later. */
export function schemaAt(schema: TSchema, number: number): TSchema | undefined {
  if (sinceOf(schema) > number) return undefined
  if (Type.IsUnion(schema))
    return Type.Union(
      schema.anyOf.flatMap((part) => schemaAt(part, number) ?? []),
      optionsOf(schema),
    )
  if (Type.IsArray(schema)) return Type.Array(schemaAt(schema.items, number) ?? Type.Never(), optionsOf(schema))
  if (Type.IsEnum(schema)) {
    const later = laterValues(schema)
    return Type.Enum(schema.enum.filter((value) => (later[String(value)]?.since ?? 1) <= number))
  }
  if (!Type.IsObject(schema)) return schema
  const members = Object.entries(schema.properties).flatMap(([name, member]) => {
    const then = schemaAt(member, number)
    return then ? [[name, then] as const] : []
  })
  return Type.Object(Object.fromEntries(members), optionsOf(schema))
}

type Change = (value: unknown) => unknown
type Members = Record<string, unknown>
type Changes = {
  members: (properties: Record<string, TSchema>) => ((value: Members) => Members) | null
  value: (schema: TSchema) => Change | null
}

/** A function that changes values of the schema; null where nothing of them is ever changed. Values of another kind stay as they are. */
function changing(schema: TSchema, changes: Changes): Change | null {
  if (Type.IsUnion(schema)) {
    const some = schema.anyOf.find((member) => !Type.IsNull(member))
    const change = some ? changing(some, changes) : null
    return change && ((value) => (value === null ? null : change(value)))
  }
  if (Type.IsArray(schema)) {
    const change = changing(schema.items, changes)
    return change && ((value) => (Array.isArray(value) ? value.map(change) : value))
  }
  if (!Type.IsObject(schema)) return changes.value(schema)
  const members = Object.entries(schema.properties).flatMap(([name, member]) => {
    const change = changing(member, changes)
    return change ? [[name, change] as const] : []
  })
  const own = changes.members(schema.properties)
  if (members.length === 0 && !own) return null
  return (value) => {
    if (!isObject(value)) return value
    const changed = own ? own(value) : { ...value }
    for (const [name, change] of members) if (name in changed) changed[name] = change(changed[name])
    return changed
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
