import type { Practice } from '../practice.ts'

/** How an office uses clinics: a question that one practice's data leaves open. */
export type OpenDentalVariant = {
  /** Off: the whole practice is one location, whatever clinics the tables still hold. */
  readonly clinics: 'on' | 'off'
  /** Some rows belong to clinic 0, which is then a location too. */
  readonly headquarters: boolean
}

/** Open Dental's number for "no clinic": the whole practice, or its headquarters. */
export const headquartersId = '0'

/** The clinic that a row of this location is written with. What is registered nowhere is the headquarters', or, without one, the first clinic's. */
export function clinicOf(practice: Practice, { headquarters }: OpenDentalVariant, locationKey: string | null): string {
  if (locationKey !== null) return locationKey
  return headquarters ? headquartersId : ([...practice.locations.keys()][0] ?? headquartersId)
}
