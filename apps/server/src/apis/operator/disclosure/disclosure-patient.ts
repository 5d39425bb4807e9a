import { csvLine } from '@bridgework/contract/portal'
import { companyNames } from '../../../modules/directory/company.ts'
import { listLocations } from '../../../modules/directory/location.ts'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import { accountForPatient, accountingMax } from '../../../modules/overview/patient-accounting.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { OrganizationId } from '../../../platform/identity/identity.ts'
import { type Answer, table } from '../answer.ts'
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
    const locations = await listLocations(pool, organizationId)
    const locationIds = locations.map(({ id }) => id)
    const { disclosures, isCut, ...found } = await accountForPatient(pool, {
      locationIds,
      patientNumber,
      now: new Date(),
    })
    if (found.locations === 0)
      throw new Problem('record_unknown', {
        errors: 'No location of this organization has a patient with that number.',
      })
    const names = await companyNames(pool, [...new Set(disclosures.map(({ companyId }) => companyId))])
    const places = new Map(locations.map(({ id, name }) => [id, name]))
    const data = disclosures.map((each) => ({
      ...each,
      companyName: names.get(each.companyId) ?? null,
      locationName: places.get(each.locationId) ?? null,
    }))
    const columns = ['at', 'vendor', 'location', 'dataset', 'kind', 'request']
    const rows = data.map((each) => [
      each.disclosedAt.toISOString(),
      each.companyName,
      each.locationName,
      each.dataset,
      each.kind,
      each.requestId,
    ])
    const lines = () => [columns, ...rows].map((cells) => csvLine(cells.map((cell) => cell ?? ''))).join('')
    const answer: Answer = { data, text: csv ? lines().trimEnd() : table(columns, rows) }
    if (isCut) answer.note = `There are more: these are the newest ${accountingMax.toLocaleString('en-US')}.`
    return answer
  },
})
