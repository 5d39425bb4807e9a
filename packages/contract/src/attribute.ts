import { type TSchema, Type } from 'typebox'
import { limits } from './limits.ts'
import type { LaterValue } from './shape.ts'

/** The schema's value, or null: unknown or empty in the practice management system. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** Text of at most 500 characters: more than any column that practice management systems keep a name in. */
export function text(description: string) {
  return Type.String({ maxLength: 500, description })
}

export function nullableText(description: string) {
  return nullable(text(description))
}

/** The practice management system's own key of a record: no control characters, so that it can stand in a key and in a log line. */
export function sourceId(description: string) {
  return Type.String({
    minLength: 1,
    maxLength: limits.sourceIdLengthMax,
    pattern: '^[^\\u0000-\\u001f\\u007f]+$',
    description,
  })
}

/** Lower snake case words, one of which is the value. `later`: those that came after the first number of the contract, which an older service does not take. */
export function oneOf<const T extends readonly string[]>(
  values: T,
  description: string,
  later: { readonly [Value in T[number]]?: LaterValue } = {},
) {
  return Type.Enum([...values] as { -readonly [K in keyof T]: T[K] }, {
    description: `${description}. Further values may be added`,
    ...(Object.keys(later).length > 0 && { 'x-later-values': later }),
  })
}

/** Money: a decimal string with two digits, in the location's currency. */
export function money(description: string) {
  return Type.String({ pattern: '^-?\\d{1,13}\\.\\d{2}$', description })
}

/** A calendar date, never an instant. */
export function calendarDate(description: string) {
  return Type.String({ format: 'date', description })
}

/** An instant in UTC with milliseconds: one spelling, so that equal instants are equal texts. */
export function instant(description: string) {
  return Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    description,
  })
}

/** An instant in any spelling of RFC 3339, as a caller may give one. */
export function anyInstant(description: string) {
  return Type.String({ format: 'date-time', description })
}

/** Our id of a record: a positive whole number written in decimal digits. */
export function recordId(description: string) {
  return Type.String({ pattern: '^[1-9]\\d{0,18}$', description })
}

/** A note that the practice's staff wrote: at most 20,000 characters. To be named in its dataset's `notes`. */
export function note(description: string) {
  return nullable(
    Type.String({
      maxLength: 20_000,
      description: `${description}. Free text of the practice’s staff; null unless the practice granted notes of this dataset`,
    }),
  )
}

/** A calendar date and a time of day on the wall of the location, without an offset. */
export function wallTime(description: string) {
  return Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}$', description })
}

/** What every record of every dataset carries beside its own attributes. */
export const commonAttributes = {
  source_id: sourceId('Key of the record in the practice management system'),
  is_hidden: Type.Boolean({ description: 'True when the record has been removed in the practice management system' }),
  updated_at: instant('When an attribute of this record, as vendors receive it, last changed'),
}
