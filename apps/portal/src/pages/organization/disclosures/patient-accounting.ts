import { csvLine, type PatientAccounting, type PatientDisclosureEntry } from '@bridgework/contract/portal'

const columns = [
  'recipient',
  'postal_address',
  'purpose',
  'location_name',
  'dataset',
  'kind',
  'first_at',
  'last_at',
  'count',
  'description',
] as const

/** The list as CSV, with a heading. What is not known is left empty. */
export function accountingCsv({ patients, data }: Pick<PatientAccounting, 'patients' | 'data'>): string {
  const rows = data.map((row) => [patients.join('; '), ...columns.map((column) => row[column] ?? '')])
  return [['patient', ...columns], ...rows].map(csvLine).join('')
}

/** A recipient has one row for each kind of record at a location, and each way of learning of it. */
export function rowKey({ company_id, location_id, dataset, kind }: PatientDisclosureEntry): string {
  return [company_id, location_id, dataset, kind].join(' ')
}
