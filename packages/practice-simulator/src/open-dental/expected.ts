import type { SourceLocation } from '@bridgework/contract/ingest'
import { keyOrder } from '../indexes.ts'
import type { Practice } from '../practice.ts'
import { sourceLocation } from '../source-location.ts'
import { type Truth, truthOf } from '../source-records.ts'
import type { View } from '../view.ts'
import { clinicOf, headquartersId, type OpenDentalVariant } from './variant.ts'

/** Every record that the agent must have uploaded from a database that holds this practice, by dataset and location. */
export function expectedRecords(
  practice: Practice,
  variant: OpenDentalVariant,
  headquartersZone = practice.organization.timeZone,
): Truth {
  const misplaced = [...practice.insurancePlans.values(), ...practice.feeSchedules.values()].find(
    (row) => row.locationKey !== null,
  )
  if (misplaced) throw new Error('Open Dental keeps plans and fee schedules for the whole practice only')
  return truthOf(practice, openDentalView(practice, variant, headquartersZone))
}

/** As Open Dental tells it: by clinics, or all in one place. */
export function openDentalView(
  practice: Practice,
  variant: OpenDentalVariant,
  headquartersZone = practice.organization.timeZone,
): View {
  const locationKeys = locationIds(practice, variant)
  return {
    locationKeys,
    locationOf: (key) =>
      locationKeys.length === 1 && locationKeys[0] === headquartersId
        ? headquartersId
        : clinicOf(practice, variant, key),
    timeZoneOf: (key) => practice.locations.get(key)?.timeZone ?? headquartersZone,
    knowsMore: false,
  }
}

/** Every location that the agent must have found there, by ascending key. `headquartersZone`: what people have set for it. */
export function expectedLocations(
  practice: Practice,
  variant: OpenDentalVariant,
  headquartersZone = practice.organization.timeZone,
): SourceLocation[] {
  const { organization } = practice
  const pms = { name: 'Open Dental', version: organization.softwareVersion }
  return locationIds(practice, variant).map((id) => {
    const location = practice.locations.get(id)
    return location === undefined
      ? sourceLocation({ ...organization, key: headquartersId, isActive: true, timeZone: headquartersZone }, pms)
      : sourceLocation(location, pms)
  })
}

function locationIds(practice: Practice, { clinics, headquarters }: OpenDentalVariant): string[] {
  if (clinics === 'off' || practice.locations.size === 0) return [headquartersId]
  return [...(headquarters ? [headquartersId] : []), ...[...practice.locations.keys()].sort(keyOrder)]
}
