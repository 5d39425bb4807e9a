/**
 * A line of a CSV file (RFC 4180), of which a spreadsheet runs nothing, whatever separator it splits lines at: what a file holds was named by
 * others. A cell that begins like a formula gets an apostrophe before it, and so does what follows a separator or a line break inside of a
 * cell, because quotes protect a cell only in a spreadsheet that splits at commas.
 *
 * OWASP, "CSV Injection": = + - @, tab, CR, LF, the full-width forms, and separators and quotes inside of a cell. OWASP ASVS 5.0, 1.2.10: NUL.
 * Spreadsheets trim blanks and what is invisible, so these count as well.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => quoted(String(cell).replaceAll(formula, "'"))).join(',')}\r\n`
}

/** The places before which an apostrophe goes. In the middle of a text, blanks and quotes between separator and formula are looked past. */
const formula = /^(?=[\p{Z}\p{C}=+\-@＝＋－＠])|(?<=[;\t\r\n])(?=(?:(?![\t\r\n])[\p{Z}\p{C}"])*[=+\-@＝＋－＠])/gu

function quoted(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
