import type { PatientDisclosureEntry } from '@bridgework/contract/portal'

const columns = ['disclosed_at', 'company_name', 'location_name', 'dataset', 'kind', 'request_id', 'id'] as const

/** The list as CSV (RFC 4180), with a heading. A cell that a spreadsheet would run as a formula starts with an apostrophe. */
export function accountingCsv(rows: readonly PatientDisclosureEntry[]): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((cells) => `${cells.map((cell) => quoted(/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)).join(',')}\r\n`)
    .join('')
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
