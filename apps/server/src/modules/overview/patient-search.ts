import type { Queryable } from '../../platform/database/queryable.ts'
import type { Location } from '../directory/location.ts'
import { findPatientsByName, type PatientIdentity } from '../records/read/patient.ts'

export type FoundPatient = PatientIdentity & { locations: string[] }

/** `isCut`: there are more. `searched`: the number of locations that were searched; the others were left out because it took too long. */
export type PatientSearch = { patients: FoundPatient[]; isCut: boolean; searched: number }

const foundMax = 25
const budgetMs = 4_000

/**
 * Patients of these locations whose names have all words of the text. A person whom several locations have is listed once. There is no index
 * on names, which would cost every upload: locations are read one after the other until enough was found or the time is over.
 */
export async function findPatients(
  db: Queryable,
  locations: readonly Location[],
  text: string,
): Promise<PatientSearch> {
  const words = text.trim().split(/\s+/)
  const found = new Map<string, FoundPatient>()
  const endAt = performance.now() + budgetMs
  let searched = 0
  for (const location of locations) {
    if (found.size > foundMax || (searched > 0 && performance.now() > endAt)) break
    for (const patient of await findPatientsByName(db, location.id, words, foundMax + 1)) {
      const key = JSON.stringify([patient.number, patient.name, patient.dateOfBirth])
      const known = found.get(key) ?? { ...patient, locations: [] }
      found.set(key, { ...known, locations: [...known.locations, location.name] })
    }
    searched++
  }
  return { patients: [...found.values()].slice(0, foundMax), isCut: found.size > foundMax, searched }
}
