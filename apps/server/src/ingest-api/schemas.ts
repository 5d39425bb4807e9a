import { instant, limits, nullable, sourceId } from '@bridgework/contract'
import { type Static, Type } from 'typebox'

// Postgres' text takes every character but NUL.
const shortText = Type.String({ maxLength: 500, pattern: '^[^\\u0000]*$' })
const optionalText = nullable(shortText)

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
  { read_at: instant('When the reading began'), complete: Type.Boolean() },
  { additionalProperties: false },
)

export const completeList = Type.Object(
  {
    began_at_upload: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    source_ids: Type.Array(sourceId('Key of a record')),
  },
  { additionalProperties: false },
)
