import { csvLine, type PatientDisclosureEntry } from '@bridgework/contract/portal'

const columns = ['disclosed_at', 'company_name', 'location_name', 'dataset', 'kind', 'request_id', 'id'] as const

/** The list as CSV, with a heading. */
export function accountingCsv(rows: readonly PatientDisclosureEntry[]): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvLine).join('')
}
