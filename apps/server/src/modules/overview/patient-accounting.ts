import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { findLastSeal } from '../chain/store.ts'
import { listPatientDisclosures, type PatientDisclosure } from '../disclosure/accounting.ts'
import { findPatientRecords } from '../records/read/patient.ts'

/** Newest first, since `from`. `locations`: at how many the number is a patient's. `isCut`: there are more disclosures than are listed. */
export type PatientAccounting = { locations: number; disclosures: PatientDisclosure[]; isCut: boolean; from: Date }

export const accountingMax = 10_000

/**
 * Which vendors received something of a patient of the practice management system, and when (45 CFR 164.528): in the six years before `now`.
 * Of the records that are the patient's now; one that was another patient's before counts for the one it belongs to.
 */
export async function accountForPatient(
  db: Queryable,
  { locationIds, patientNumber, now }: { locationIds: readonly LocationId[]; patientNumber: string; now: Date },
): Promise<PatientAccounting> {
  const patients = await findPatientRecords(db, locationIds, patientNumber)
  const from = new Date(now)
  from.setUTCFullYear(from.getUTCFullYear() - 6)
  // Read before the days, so that an entry that is added to them meanwhile is looked at twice rather than not at all.
  const doneTo = (await findLastSeal(db))?.lastDisclosureId ?? '0'
  const found: PatientDisclosure[] = []
  const until = new Date(now.getTime() + 60_000)
  for (const patient of patients)
    found.push(...(await listPatientDisclosures(db, patient, { from, until, doneTo, limit: accountingMax + 1 })))
  found.sort((left, right) => right.disclosedAt.getTime() - left.disclosedAt.getTime())
  const disclosures = found.slice(0, accountingMax)
  return { locations: patients.length, disclosures, isCut: found.length > accountingMax, from }
}
