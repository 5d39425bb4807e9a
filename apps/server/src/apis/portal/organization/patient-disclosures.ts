import { recordAudit } from '../../../modules/audit/store.ts'
import { accountForPatient } from '../../../modules/overview/patient-accounting.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'

/** Which vendors received something of one patient, and when. */
export const patientDisclosureHandlers: PortalHandlers<'accountForPatient'> = {
  accountForPatient: async ({ pool, now }, call) => {
    const { member, body } = call
    const to = now()
    await recordAudit(pool, entryOf(call, 'disclosure.account', {}))
    const { locations, patients, disclosures, from } = await accountForPatient(pool, {
      organizationId: member.organizationId,
      patientNumber: body.patient_number,
      now: to,
    })
    return {
      locations,
      patients,
      from: from.toISOString(),
      to: to.toISOString(),
      data: disclosures.map((each) => ({
        company_id: each.companyId,
        recipient: each.recipient.name,
        postal_address: each.recipient.postalAddress,
        purpose: each.recipient.purpose,
        location_id: each.locationId,
        location_name: each.locationName,
        dataset: each.dataset,
        kind: each.kind,
        description: each.description,
        first_at: each.firstAt.toISOString(),
        last_at: each.lastAt.toISOString(),
        count: each.count,
      })),
    }
  },
}
