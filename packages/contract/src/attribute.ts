import { type TSchema, Type } from 'typebox'

/** The schema's value, or null: unknown or empty in the practice management system. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

export function text(description: string) {
  return Type.String({ description })
}

export function nullableText(description: string) {
  return nullable(Type.String({ description }))
}

/** Lower snake case words, one of which is the value. */
export function oneOf<const T extends readonly string[]>(values: T, description: string) {
  return Type.Enum([...values] as { -readonly [K in keyof T]: T[K] }, { description })
}

/** Money: a decimal string with two digits, in the location's currency. */
export function money(description: string) {
  return Type.String({ pattern: '^-?\\d{1,13}\\.\\d{2}$', description })
}

/** A calendar date, never an instant. */
export function calendarDate(description: string) {
  return Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$', description })
}

/** An instant in UTC with milliseconds. */
export function instant(description: string) {
  return Type.String({ format: 'date-time', description })
}

/** Our id of a record: a positive whole number written in decimal digits. */
export function recordId(description: string) {
  return Type.String({ pattern: '^[1-9]\\d{0,18}$', description })
}

/** What every record of every dataset carries beside its own attributes. */
export const commonAttributes = {
  source_id: text("The practice management system's own key"),
  is_hidden: Type.Boolean({ description: 'True when the record has been removed in the practice management system' }),
  updated_at: instant('When what vendors receive of this record last changed'),
}
