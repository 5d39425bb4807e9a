import { anyInstant, type BrokenRule, type ParameterRule } from '@bridgework/contract'
import { type TSchema, Type } from 'typebox'
import { Problem } from '../../platform/errors/problem.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'

/** One parameter of a query, written `name` or `group[name]`. OpenAPI shows the schema by which `read` checks. */
export type Parameter<Value> = {
  readonly name: string
  readonly schema: TSchema
  /** What it is when the query does not have it. */
  readonly absent: Value
  /** Throws `parameter_invalid`, naming the parameter and what is accepted. */
  readonly read: (text: string) => Value
}

type Described = { readonly description: string /** Completes "items must be …". */; readonly mustBe: string }

/** A whole number of at most 64 bits in decimal digits. */
export function wholeNumber<Value, Absent extends Value | null>(
  name: string,
  {
    description,
    mustBe,
    absent,
    read,
    ...schema
  }: Described & {
    readonly minimum: number
    readonly maximum?: number
    readonly default?: number
    readonly absent: Absent
    readonly read: (text: string) => Value
  },
): Parameter<Value | Absent> {
  const [least, most] = [BigInt(schema.minimum), schema.maximum === undefined ? undefined : BigInt(schema.maximum)]
  return {
    name,
    schema: Type.Integer({ ...schema, description }),
    absent,
    read: (text) => (isWholeNumber(text, least, most) ? read(text) : refuse(name, 'whole_number', mustBe, text)),
  }
}

function isWholeNumber(text: string, least: bigint, most = 2n ** 63n - 1n): boolean {
  return /^(0|[1-9]\d{0,18})$/.test(text) && BigInt(text) >= least && BigInt(text) <= most
}

/** Our id of a record. */
export function recordId(name: string, { description, mustBe }: Described): Parameter<string | null> {
  return {
    name,
    schema: Type.String({ pattern: '^[1-9]\\d{0,18}$', description }),
    absent: null,
    read: (text) => (isWholeNumber(text, 1n) ? text : refuse(name, 'record_id', mustBe, text)),
  }
}

/** A moment, as `parse` takes it. `from`: how far back it may be, in words. */
export function moment<Value>(
  name: string,
  { description, parse, from = '' }: { description: string; parse: (text: string) => Value | null; from?: string },
): Parameter<Value | null> {
  return {
    name,
    schema: anyInstant(description),
    absent: null,
    read: (text) => {
      const value = parse(text)
      if (value !== null) return value
      const hint = text.includes(' ') ? ' A "+" in a query must be written as %2B.' : ''
      throw invalid(
        `${name} must be an RFC 3339 date-time${from}, like 2026-01-31T08:00:00Z or 2026-01-31T08:00:00.123456%2B01:00; you sent: ${quote(text)}.${hint}`,
        { parameter: name, rule: 'date_time' },
      )
    },
  }
}

/** A text that an earlier answer gave, and `parse` knows again; null: it does not. */
export function opaque<Value>(
  name: string,
  { description, mustBe, parse }: Described & { parse: (text: string) => Value | null },
): Parameter<Value | null> {
  return {
    name,
    schema: Type.String({ description }),
    absent: null,
    read: (text) => parse(text) ?? refuse(name, 'cursor', mustBe, text),
  }
}

export function flag(name: string, { description, mustBe }: Described): Parameter<boolean> {
  return {
    name,
    schema: Type.Boolean({ description }),
    absent: false,
    read: (text) => {
      if (['', 'true', '1'].includes(text)) return true
      if (['false', '0'].includes(text)) return false
      return refuse(name, 'boolean', mustBe, text)
    },
  }
}

/** Some of these words, each once, separated by commas. `what` names one of them. */
export function someOf(
  name: string,
  { description, words, what }: { description: string; words: readonly string[]; what: string },
): Parameter<readonly string[] | null> {
  const accepted = `Accepted, separated by commas: ${words.join(', ')}.`
  return {
    name,
    schema: Type.String({ description }),
    absent: null,
    read: (text) => {
      const broken = { parameter: name, rule: 'names' } as const
      if (text === '') throw invalid(`${name} names no ${what}. ${accepted}`, broken)
      const named = text.split(',')
      const unknown = named.find((each) => !words.includes(each))
      if (unknown !== undefined)
        throw invalid(`${name} names an unknown ${what} ${quote(unknown)}. ${accepted}`, broken)
      const repeated = named.find((each, index) => named.indexOf(each) < index)
      if (repeated !== undefined) throw invalid(`${name} names ${repeated} more than once. ${accepted}`, broken)
      return named
    },
  }
}

/** What a path accepts, by name. */
export type Accepted = ReadonlyMap<string, Parameter<unknown>>

export function accepting(...parameters: readonly Parameter<unknown>[]): Accepted {
  return new Map(parameters.map((parameter) => [parameter.name, parameter]))
}

export type Query = {
  readonly get: <Value>(parameter: Parameter<Value>) => Value
  /** As the caller wrote them, in the caller's order. */
  readonly texts: ReadonlyMap<string, string>
}

/**
 * Reads a query. A misspelt or repeated parameter is refused: a delta filter that is silently ignored turns into a full sync. Throws
 * `parameter_invalid`. `hint` follows what it says of an unknown one.
 */
export function readQuery(rawQuery: string, accepted: Accepted, hint = ''): Query {
  const texts = new Map<string, string>()
  const values = new Map<string, unknown>()
  const refused = (errors: string, broken: BrokenRule) => {
    const names =
      accepted.size === 0 ? 'This path accepts no parameters.' : `Accepted: ${[...accepted.keys()].join(', ')}.`
    return invalid(`${errors} ${names}${hint}`, broken)
  }
  for (const [name, text] of decodedParts(rawQuery)) {
    if (name === null || text === null) {
      throw invalid('A parameter is not valid percent-encoded UTF-8.', { parameter: null, rule: 'encoding' })
    }
    const parameter = accepted.get(name)
    if (!parameter) throw refused(`Unknown parameter ${quote(name)}.`, { parameter: null, rule: 'accepted' })
    if (texts.has(name)) throw refused(`Parameter ${name} occurs more than once.`, { parameter: name, rule: 'once' })
    texts.set(name, text)
    values.set(name, parameter.read(text))
  }
  // What a parameter's own `read` returned.
  const get = <Value>({ name, absent }: Parameter<Value>) => (values.has(name) ? (values.get(name) as Value) : absent)
  return { get, texts }
}

/** What OpenAPI shows of a path's query: each parameter under its whole name (docs/decisions/openapi-document.md). */
export function querySchema(accepted: Accepted) {
  return Type.Object(
    Object.fromEntries([...accepted.values()].map(({ name, schema }) => [name, Type.Optional(schema)])),
  )
}

type Part = readonly [name: string | null, value: string | null]

/** A query's names and values in their order; null: not valid percent-encoded UTF-8. */
export function decodedParts(rawQuery: string): readonly Part[] {
  const known = decoded.get(rawQuery)
  if (known) return known
  const parts: Part[] = []
  for (const part of rawQuery.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    parts.push([decode(equals < 0 ? part : part.slice(0, equals)), decode(equals < 0 ? '' : part.slice(equals + 1))])
  }
  decoded.set(rawQuery, parts)
  return parts
}

/** Each request's is read twice within milliseconds: for its turn, and by its route. */
const decoded = new BoundedMap<string, readonly Part[]>(64)

function decode(text: string): string | null {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** What the caller sent, short enough to be read and escaped for JSON and terminals alike. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

function refuse(name: string, rule: ParameterRule, mustBe: string, text: string): never {
  throw invalid(`${name} must be ${mustBe}; you sent: ${quote(text)}.`, { parameter: name, rule })
}

export function invalid(errors: string, broken: BrokenRule): Problem {
  return new Problem('parameter_invalid', { errors, broken })
}
