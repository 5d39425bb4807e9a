import { anyInstant, limits, nullable, sourceId } from '@bridgework/contract'
import { type Static, Type } from 'typebox'

// Postgres' text takes every character but NUL.
const shortText = Type.String({ maxLength: 500, pattern: '^[^\\u0000]*$' })
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

/** Bodies of the ingest API, as docs/guides/write-a-connector.md and the agent know them. Every member is there; null: unknown. */
export const enrolment = Type.Object(
  {
    enrolment_code: Type.String({ minLength: 1, maxLength: limits.credentialLengthMax }),
    name: Type.Optional(shortText),
    version: Type.Optional(shortText),
  },
  { additionalProperties: false },
)

export const locationList = Type.Object(
  {
    locations: Type.Array(
      Type.Object(
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
      ),
      { maxItems: 1000 },
    ),
  },
  { additionalProperties: false },
)
export type LocationList = Static<typeof locationList>

export const cycle = Type.Object(
  { read_at: anyInstant('When the reading began'), complete: Type.Boolean() },
  { additionalProperties: false },
)

export const completeList = Type.Object(
  {
    began_at_upload: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    source_ids: Type.Array(sourceId('Key of a record')),
  },
  { additionalProperties: false },
)
