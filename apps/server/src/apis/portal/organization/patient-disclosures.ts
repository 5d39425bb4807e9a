import { recordAudit } from '../../../modules/audit/store.ts'
import { companyNames } from '../../../modules/directory/company.ts'
import { listLocations } from '../../../modules/directory/location.ts'
import { accountForPatient } from '../../../modules/overview/patient-accounting.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'

/** Which vendors received something of one patient, and when. */
export const patientDisclosureHandlers: PortalHandlers<'accountForPatient'> = {
  accountForPatient: async ({ pool, now }, call) => {
    const { member, body } = call
    const to = now()
    await recordAudit(pool, entryOf(call, 'disclosure.account', {}))
    const locations = await listLocations(pool, member.organizationId)
    const accounting = await accountForPatient(pool, {
      locationIds: locations.map(({ id }) => id),
      patientNumber: body.patient_number,
      now: to,
    })
    const companies = await companyNames(pool, [...new Set(accounting.disclosures.map(({ companyId }) => companyId))])
    const places = new Map(locations.map(({ id, name }) => [id, name]))
    return {
      locations: accounting.locations,
      is_cut: accounting.isCut,
      from: accounting.from.toISOString(),
      to: to.toISOString(),
      data: accounting.disclosures.map((each) => ({
        id: each.id,
        disclosed_at: each.disclosedAt.toISOString(),
        company_id: each.companyId,
        company_name: companies.get(each.companyId) ?? '',
        location_id: each.locationId,
        location_name: places.get(each.locationId) ?? '',
        dataset: each.dataset,
        kind: each.kind,
        request_id: each.requestId,
      })),
    }
  },
}
