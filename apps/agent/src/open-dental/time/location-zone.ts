import { isTimeZone } from '@bridgework/contract'
import type { ZonesSet } from '../../connector.ts'
import { zoneOfPostalCode } from './postal-zones.ts'
import { zoneOfWindowsName } from './windows-zones.ts'

/** What is known of where a location is; null or empty: nothing. */
export type Place = {
  readonly sourceId: string
  /** The clinic's own time zone in Open Dental. */
  readonly clinicZone: string | null
  readonly postalCode: string | null
  readonly country: string | null
}

/** What holds for all locations: the agent's setting, what people set at Bridgework, and the zone as the database server names its own. */
export type ZoneSources = { readonly configured: string | null; readonly set: ZonesSet; readonly serverZone: string }

/** A location's zone and, in words, where it comes from; or why there is none. */
export type LocationZone =
  | { readonly zone: string; readonly from: string }
  | { readonly zone: null; readonly because: string }

/**
 * The zone of a location's wall clock: what people said first, then what the clinic, the database server and the address tell. An offset or
 * an abbreviation says nothing about other days, UTC on a server nothing about the practice, and where server and address disagree, one
 * of them is elsewhere: then only a person knows.
 */
export function zoneOfLocation(place: Place, { configured, set, serverZone }: ZoneSources): LocationZone {
  if (configured !== null) return { zone: configured, from: 'the agent’s setting time_zone' }
  const own = set.locations.get(place.sourceId)
  if (own !== undefined) return { zone: own, from: 'the location’s time zone at Bridgework' }
  if (set.organization !== null) return { zone: set.organization, from: 'the organization’s time zone at Bridgework' }
  const ofClinic = zoneNamed(place.clinicZone ?? '', place.country)
  if (ofClinic !== null) return { zone: ofClinic, from: 'the clinic’s time zone in Open Dental' }
  const ofServer = zoneNamed(serverZone, place.country)
  const ofAddress = zoneOfPostalCode(place.postalCode)
  const address = `the postal code ${place.postalCode}`
  if (ofServer !== null && ofAddress !== null && !haveSameClock(ofServer, ofAddress)) {
    return { zone: null, because: `The database server is set to ${ofServer}, but ${address} is in ${ofAddress}.` }
  }
  if (ofServer !== null) return { zone: ofServer, from: `the database server’s zone, ${serverZone}` }
  if (ofAddress !== null) return { zone: ofAddress, from: address }
  const where = place.postalCode === null ? 'there is no postal code' : `${address} does not tell the zone either`
  return { zone: null, because: `The database server says only "${serverZone}", and ${where}.` }
}

/** The IANA zone that a system names its clock by, in IANA's or Windows' words; null for UTC, offsets and abbreviations. */
function zoneNamed(name: string, country: string | null): string | null {
  if (/^(UTC|GMT|Etc\/.*)$/i.test(name)) return null
  return isTimeZone(name) ? name : zoneOfWindowsName(name, country)
}

/** Today's rules are compared, in winter and in summer: Detroit and New York are one clock. */
function haveSameClock(left: string, right: string): boolean {
  const year = new Date().getUTCFullYear()
  return [0, 6].every((month) => offsetIn(left, year, month) === offsetIn(right, year, month))
}

function offsetIn(zone: string, year: number, month: number): string {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  const parts = format.formatToParts(Date.UTC(year, month, 15))
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? ''
}
