import { csvLine } from '@bridgework/contract/portal'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import { accountForPatient } from '../../../modules/overview/patient-accounting.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { OrganizationId } from '../../../platform/identity/identity.ts'
import { table } from '../answer.ts'
import { command } from '../command-line.ts'
import { flag, numericId, required, text } from '../option.ts'

export const patient = command({
  help: 'Which vendors received something of one patient in the last six years, and when (45 CFR 164.528).',
  act: 'disclosure.account',
  needsReason: true,
  options: {
    organization: required('<id>', 'the practice', numericId<OrganizationId>),
    patient: required('<number>', 'the patient’s number in the practice management system', text),
    csv: flag('print CSV'),
  },
  run: async ({ pool }, { organization: organizationId, patient: patientNumber, csv }, record) => {
    const { name } = await requireOrganization(pool, organizationId)
    // First: who searched is on record whatever was found. The history names no patient.
    const concerned = { side: 'organization', id: organizationId } as const
    await withTransaction(pool, (client) => record(client, { organization: { id: organizationId, name } }, concerned))
    const { disclosures, locations, patients } = await accountForPatient(pool, {
      organizationId,
      patientNumber,
      now: new Date(),
    })
    if (locations === 0)
      throw new Problem('record_unknown', {
        errors: 'No location of this organization has a patient with that number.',
      })
    const rows = disclosures.map((each) => ({
      patient: patients.join('; '),
      recipient: each.recipient.name,
      postal_address: each.recipient.postalAddress ?? 'not known',
      purpose: each.recipient.purpose ?? 'not stated',
      location: each.locationName,
      dataset: each.dataset,
      kind: each.kind,
      first_at: each.firstAt.toISOString(),
      last_at: each.lastAt.toISOString(),
      count: each.count,
      description: each.description,
    }))
    const columns = [
      'patient',
      'recipient',
      'postal_address',
      'purpose',
      'location',
      'dataset',
      'kind',
      'first_at',
      'last_at',
      'count',
      'description',
    ] as const
    const lines = () => [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvLine).join('')
    // The description is in the file: a table of it fits no terminal.
    const shown = columns.slice(0, -1)
    return {
      data: rows,
      text: csv
        ? lines().trimEnd()
        : table(
            shown,
            rows.map((row) => shown.map((column) => row[column])),
          ),
    }
  },
})
