import type { SourceLocation } from '@bridgework/contract/ingest'
import type { Location } from './rows.ts'

/** A location of the practice in the shape in which agents send it. */
export function sourceLocation(
  location: Omit<Location, 'abbreviation'>,
  pms: SourceLocation['practice_management_system'],
): SourceLocation {
  return {
    source_id: location.key,
    name: location.name,
    address_line_1: location.addressLine1 || null,
    address_line_2: location.addressLine2 || null,
    city: location.city || null,
    state: location.state || null,
    postal_code: location.postalCode || null,
    country: 'US',
    phone: location.phone || null,
    email: null,
    website_url: null,
    time_zone: location.timeZone,
    currency: 'USD',
    is_active: location.isActive,
    practice_management_system: pms,
  }
}
