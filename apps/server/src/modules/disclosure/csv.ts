/**
 * A line of a CSV file (RFC 4180). A cell that a spreadsheet would take for a formula gets an apostrophe before it: what a file holds was
 * named by others, and opening it must not run anything.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => quoted(harmless(String(cell)))).join(',')}\r\n`
}

function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
