import { type DatasetName, getDataset } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { findLastSeal } from '../chain/store.ts'
import { listLocations } from '../directory/location.ts'
import { listPatientDisclosures, type PatientDisclosures } from '../disclosure/accounting.ts'
import { findPatientRecords, identifyPatients } from '../records/read/patient.ts'

/** Who received it, and why: null where nobody said so. `name`: in law, where the company says so. */
export type Recipient = { name: string; postalAddress: string | null; purpose: string | null }

/** What 45 CFR 164.528(b)(2) asks for, of each recipient and kind of record. */
export type AccountedDisclosures = PatientDisclosures & {
  locationName: string
  recipient: Recipient
  /** What records of this kind say, in words: `first name, last name`. */
  description: string
}

/** The newest first, since `from`. `patients`: the names that the number has, one at each of `locations` locations at most. */
export type PatientAccounting = {
  patients: string[]
  locations: number
  disclosures: AccountedDisclosures[]
  from: Date
}

/**
 * Which vendors received something of a patient of the practice management system, and when (45 CFR 164.528): in the six years before `now`.
 * Of the records that are the patient's now; one that was another patient's before counts for the one it belongs to.
 */
export async function accountForPatient(
  db: Queryable,
  { organizationId, patientNumber, now }: { organizationId: OrganizationId; patientNumber: string; now: Date },
): Promise<PatientAccounting> {
  const places = new Map((await listLocations(db, organizationId)).map(({ id, name }) => [id, name]))
  const patients = await findPatientRecords(db, [...places.keys()], patientNumber)
  const from = new Date(now)
  from.setUTCFullYear(from.getUTCFullYear() - 6)
  // Read before the days, so that an entry that is added to them meanwhile is looked at twice rather than not at all.
  const doneTo = (await findLastSeal(db))?.lastDisclosureId ?? '0'
  const found: PatientDisclosures[] = []
  const names = new Set<string>()
  const until = new Date(now.getTime() + 60_000)
  for (const patient of patients) {
    found.push(...(await listPatientDisclosures(db, patient, { from, until, doneTo })))
    names.add(await nameOf(db, patient))
  }
  const recipients = await findRecipients(db, organizationId, [...new Set(found.map(({ companyId }) => companyId))])
  return {
    patients: [...names],
    locations: patients.length,
    disclosures: found
      .toSorted((left, right) => right.lastAt.getTime() - left.lastAt.getTime())
      .map((each) => ({
        ...each,
        locationName: places.get(each.locationId) ?? '',
        recipient: recipients.get(each.companyId) ?? { name: '', postalAddress: null, purpose: null },
        description: contentsOf(each.dataset),
      })),
    from,
  }
}

async function nameOf(
  db: Queryable,
  { locationId, patientId }: { locationId: LocationId; patientId: string },
): Promise<string> {
  const found = await identifyPatients(db, { locationId, dataset: 'patients', ids: [patientId] })
  return found.get(patientId)?.name ?? 'No name'
}

/** The purpose of a company's grants, the newest first: what the practice agreed to, or else what the company says of itself. */
async function findRecipients(
  db: Queryable,
  organizationId: OrganizationId,
  companyIds: readonly CompanyId[],
): Promise<Map<CompanyId, Recipient>> {
  const { rows } = await db.query<Recipient & { id: CompanyId }>(
    `select c.id, coalesce(p.legal_name, c.name) as name, p.postal_address as "postalAddress",
            coalesce((select purpose
                        from access_grant
                       where organization_id = $1 and company_id = c.id and purpose is not null
                       order by granted_at desc
                       limit 1), p.purpose) as purpose
       from company c
       left join company_profile p on p.company_id = c.id
      where c.id = any($2::uuid[])`,
    [organizationId, companyIds],
  )
  return new Map(rows.map(({ id, ...recipient }) => [id, recipient]))
}

function contentsOf(dataset: DatasetName): string {
  const names = Object.keys(getDataset(dataset).attributes.properties)
  return names.map((name) => name.replaceAll('_', ' ')).join(', ')
}
