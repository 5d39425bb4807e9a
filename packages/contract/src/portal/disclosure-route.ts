import type { Route } from './route-entry.ts'

const disclosureFilter = ['company_id', 'location_id', 'dataset', 'from', 'to'] as const

/** What a practice asks about reads of its data. */
export const disclosureRoutes = {
  listDisclosures: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosures',
    action: 'disclosure.read',
    query: [...disclosureFilter, 'before'],
  },
  /** Reads by day and vendor, the newest days first. */
  listDisclosureDays: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosure_days',
    action: 'disclosure.read',
    query: disclosureFilter,
  },
  summarizeDisclosures: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosure_summary',
    action: 'disclosure.read',
    query: disclosureFilter,
  },
  /** Answers text/csv. */
  exportDisclosures: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosures.csv',
    action: 'disclosure.read',
    query: disclosureFilter,
  },
  /** Answers application/x-ndjson: what a stand-alone verifier needs. From the last seal before `from` on. */
  exportSealedDisclosures: {
    method: 'GET',
    path: '/organizations/:organization_id/disclosures.ndjson',
    action: 'disclosure.read',
    query: ['from'],
  },
  /** A POST, because a patient's number must be in no address. Leaves an act. */
  accountForPatient: {
    method: 'POST',
    path: '/organizations/:organization_id/patient_disclosures',
    action: 'disclosure.read',
  },
  /**
   * The records of a disclosure. A POST, as the two below, because no id, number or name of a patient may be in an address, and because a look-up
   * of patients leaves an act.
   */
  listDisclosedRecords: {
    method: 'POST',
    path: '/organizations/:organization_id/disclosures/:disclosure_id/records',
    action: 'disclosure.read',
  },
  /** Answers text/csv: all records of a disclosure with their patients. */
  exportDisclosedRecords: {
    method: 'POST',
    path: '/organizations/:organization_id/disclosures/:disclosure_id/records.csv',
    action: 'disclosure.identify',
  },
  findPatients: {
    method: 'POST',
    path: '/organizations/:organization_id/patient_search',
    action: 'disclosure.identify',
  },
  /** What seals are checked with. */
  getSealKey: {
    method: 'GET',
    path: '/organizations/:organization_id/seal_key',
    action: 'disclosure.read',
  },
  /** Whether the practice's owner gets each new seal by mail. */
  setSealMail: { method: 'PUT', path: '/organizations/:organization_id/seal_mail', action: 'seal.mail' },
} as const satisfies Record<string, Route>
