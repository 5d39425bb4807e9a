/**
 * The row of a table or query whose columns, in snake case, hold an object's members, in camel case: `RowOf<{ createdAt: Date }>` is
 * `{ created_at: Date }`. Digits stand by themselves, as in `address_line_1`.
 */
export type RowOf<T> = { [Name in keyof T as Name extends string ? SnakeCase<Name> : Name]: T[Name] }

/** The object that a row holds: every column under its name in camel case, its value as it is. */
export function fromRow<T extends object>(row: RowOf<T>): T {
  const object: Record<string, unknown> = {}
  for (const [column, value] of Object.entries(row)) object[camelCase(column)] = value
  // The keys are those of T by RowOf, which spells each of them the other way.
  return object as T
}

/** The row that an object's members make: each under its column's name. */
export function toRow<T extends object>(object: T): RowOf<T> {
  const row: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) row[snakeCase(name)] = value
  // As above, the other way round.
  return row as RowOf<T>
}

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? Rest extends ''
    ? Lowercase<First>
    : `${First}${SnakeTail<Rest>}`
  : Name

type SnakeTail<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? (First extends Digit ? `_${First}` : First) : `_${Lowercase<First>}`}${SnakeTail<Rest>}`
  : ''

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'

const camelCase = spelling((column) => column.replaceAll(/_([a-z\d])/g, (_all, letter: string) => letter.toUpperCase()))
const snakeCase = spelling((name) => name.replaceAll(/[A-Z\d]/g, (letter) => `_${letter.toLowerCase()}`))

/** Names are few and asked for again and again: each is spelt once. */
function spelling(spell: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const spelt = known.get(name) ?? spell(name)
    known.set(name, spelt)
    return spelt
  }
}
