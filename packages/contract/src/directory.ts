import { Type } from 'typebox'
import { instant, nullable, nullableText, text } from './attribute.ts'
import { freshness } from './envelope.ts'

const datasetsGranted = Type.Array(Type.String({ description: 'Name of the dataset, as in its path' }), {
  description: 'Datasets that this credential may read here',
})

/** Attributes of an organization: a practice owner. */
export const organizationAttributes = Type.Object({
  name: text('Name of the organization'),
  external_reference: nullableText('Reference that the operator gave the organization'),
  time_zone: nullableText('IANA time zone'),
  country: nullableText('ISO 3166-1 alpha-2 country code'),
  locations_count: Type.Integer({ description: 'Number of its locations that this credential may read' }),
  datasets_granted: datasetsGranted,
  granted_at: instant('When it first granted access that is still in force'),
  created_at: instant('When the organization was created in Bridgework'),
  updated_at: instant('When one of these attributes last changed'),
})

/** Attributes of a location: a dental practice at one address. */
export const locationAttributes = Type.Object({
  name: text('Name of the location'),
  organization_id: text('Organization that it belongs to'),
  address_line_1: nullableText('Street address'),
  address_line_2: nullableText('Second line of the address'),
  city: nullableText('City'),
  state: nullableText('State or province'),
  postal_code: nullableText('Postal code'),
  country: nullableText('ISO 3166-1 alpha-2 country code'),
  phone: nullableText('Telephone number'),
  email: nullableText('E-mail address'),
  website_url: nullableText('Website'),
  time_zone: nullableText('IANA time zone'),
  currency: nullableText('ISO 4217 currency code'),
  is_active: Type.Boolean({ description: 'False when the practice has closed the location' }),
  practice_management_system: Type.Object({
    name: nullableText('Name of the practice management system'),
    version: nullableText('Its version'),
  }),
  attribution_script: Type.Object({
    is_installed: Type.Boolean({
      description: 'True when the attribution script ran on the practice’s website within the last 30 days',
    }),
    installed_at: nullable(
      instant(
        'When it was installed: the start of the time in which it ran without a gap of 30 days. Null when it is not installed',
      ),
    ),
    last_seen_at: nullable(instant('When it last ran on the practice’s website')),
  }),
  sync: Type.Object({
    state: freshness.properties.state,
    initial_sync_completed_at: nullable(instant('When all granted datasets were read for the first time')),
    synced_at: freshness.properties.synced_at,
  }),
  datasets_granted: datasetsGranted,
  created_at: instant('When the location was created in Bridgework'),
  updated_at: instant('When one of these attributes last changed'),
})
