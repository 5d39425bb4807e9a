import { type Static, Type } from 'typebox'
import { nullable, sourceId } from '../attribute.ts'

// Postgres' text takes every character but NUL.
export const shortText = Type.String({ maxLength: 500, pattern: '^[^\\u0000]*$' })
const optionalText = nullable(shortText)

const timeOfDay = '([01]\\d|2[0-3]):[0-5]\\d'
const openings = Type.Optional(
  Type.Array(
    Type.Object(
      { opens: Type.String({ pattern: `^${timeOfDay}$` }), closes: Type.String({ pattern: `^(${timeOfDay}|24:00)$` }) },
      { additionalProperties: false },
    ),
    { maxItems: 10 },
  ),
)

/** When a location is open, by weekday, on its wall clock. A day that is missing is a day off. */
const officeHours = Type.Object(
  {
    monday: openings,
    tuesday: openings,
    wednesday: openings,
    thursday: openings,
    friday: openings,
    saturday: openings,
    sunday: openings,
  },
  { additionalProperties: false },
)

/** A location as an agent sends it. Every member is there, null where the system has nothing; only `office_hours` may be left out. */
export const sourceLocation = Type.Object(
  {
    source_id: sourceId('Key of the location in the practice management system'),
    name: shortText,
    address_line_1: optionalText,
    address_line_2: optionalText,
    city: optionalText,
    state: optionalText,
    postal_code: optionalText,
    country: optionalText,
    phone: optionalText,
    email: optionalText,
    website_url: optionalText,
    time_zone: optionalText,
    currency: optionalText,
    is_active: Type.Boolean(),
    practice_management_system: Type.Object(
      { name: optionalText, version: optionalText },
      { additionalProperties: false },
    ),
    office_hours: Type.Optional(nullable(officeHours)),
  },
  { additionalProperties: false },
)

export type SourceLocation = Readonly<Static<typeof sourceLocation>>
