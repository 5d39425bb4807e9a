import { csvLine, mayDo, type PatientName } from '@bridgework/contract/portal'
import type { Pool } from 'pg'
import { recordAudit } from '../../../modules/audit/store.ts'
import { companyNames } from '../../../modules/directory/company.ts'
import { type Location, listLocations } from '../../../modules/directory/location.ts'
import { type DisclosureCoverage, findDisclosureCoverage } from '../../../modules/disclosure/history.ts'
import { listDisclosedRecords } from '../../../modules/overview/disclosed-records.ts'
import { findPatients } from '../../../modules/overview/patient-search.ts'
import type { PatientIdentity } from '../../../modules/records/read/patient.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { entryOf } from '../shared/audit.ts'
import type { Call, PortalHandlers } from '../shared/context.ts'
import { sendCsv } from '../shared/csv.ts'
import { requireOwnLocation } from '../shared/own-location.ts'

const pageSize = 200
const exportBatch = 1_000

/** Which records a disclosure was about, and whose. Every look-up of patients is on record before it is answered. */
export const disclosedRecordHandlers: PortalHandlers<
  'listDisclosedRecords' | 'exportDisclosedRecords' | 'findPatients'
> = {
  listDisclosedRecords: async ({ pool }, call) => {
    const { after = '0', with_patients: withPatients } = call.body
    const { disclosure, location } = await requireDisclosure(pool, call)
    if (withPatients) {
      if (!mayDo(call.member.role, 'disclosure.identify', 'organization')) throw new Problem('role_denied')
      await recordLookUp(pool, call, disclosure, location)
    }
    const found = await listDisclosedRecords(pool, disclosure, { after, limit: pageSize + 1, withPatients })
    const data = found.slice(0, pageSize)
    return {
      interval: disclosure.interval && {
        after_id: disclosure.interval.afterId,
        last_id: disclosure.interval.lastId,
      },
      data: data.map(({ id, patient }) => ({ id, patient: patient && toName(patient) })),
      next_after: found.length > pageSize ? (data.at(-1)?.id ?? null) : null,
    }
  },

  exportDisclosedRecords: async ({ pool }, call) => {
    const { disclosure, location } = await requireDisclosure(pool, call)
    await recordLookUp(pool, call, disclosure, location)
    return sendCsv(call, `disclosure-${disclosure.id}`, recordsCsv(pool, disclosure))
  },

  findPatients: async ({ pool }, call) => {
    const { name, location_id: locationId } = call.body
    const { organizationId } = call.member
    const locations = locationId
      ? [await requireOwnLocation(pool, organizationId, locationId)]
      : await listLocations(pool, organizationId)
    const { patients, isCut, searched } = await findPatients(pool, locations, name)
    await recordAudit(pool, entryOf(call, 'patient.search', { found: patients.length }))
    return {
      data: patients.map((patient) => ({ ...toName(patient), locations: patient.locations })),
      is_cut: isCut,
      searched,
      locations: locations.length,
    }
  },
}

type RecordsCall = Call<'listDisclosedRecords' | 'exportDisclosedRecords'>

/** Throws Problem not_found, also for a disclosure of another practice. */
async function requireDisclosure(db: Queryable, { member, params }: RecordsCall) {
  const id = params.disclosure_id ?? ''
  const locations = await listLocations(db, member.organizationId)
  const locationIds = locations.map((each) => each.id)
  const disclosure = /^[1-9]\d{0,17}$/.test(id) ? await findDisclosureCoverage(db, locationIds, id) : null
  const location = locations.find((each) => each.id === disclosure?.locationId)
  if (!disclosure || !location) throw new Problem('not_found')
  return { disclosure, location }
}

async function recordLookUp(
  db: Queryable,
  call: RecordsCall,
  { companyId, dataset, records }: DisclosureCoverage,
  location: Location,
): Promise<void> {
  const vendor = { id: companyId, name: (await companyNames(db, [companyId])).get(companyId) ?? '' }
  await recordAudit(db, entryOf(call, 'disclosure.identify', { dataset, vendor, location, records }))
}

/** All records of a disclosure with their patients, read as fast as the reader takes them and never more than a batch at a time. */
async function* recordsCsv(pool: Pool, disclosure: DisclosureCoverage): AsyncGenerator<string> {
  yield csvLine(['record_id', 'patient_number', 'patient_name', 'date_of_birth'])
  for (let after = '0'; ; ) {
    const found = await listDisclosedRecords(pool, disclosure, { after, limit: exportBatch, withPatients: true })
    yield found
      .map(({ id, patient }) => csvLine([id, patient?.number ?? '', patient?.name ?? '', patient?.dateOfBirth ?? '']))
      .join('')
    if (found.length < exportBatch) return
    after = found.at(-1)?.id ?? after
  }
}

function toName({ number, name, dateOfBirth }: PatientIdentity): PatientName {
  return { number, name, date_of_birth: dateOfBirth }
}
