/** The text without surrounding blanks and without NUL, which JSON carries and a Postgres text cannot hold. */
export function text(value: string | null | undefined): string {
  return (value ?? '').replaceAll('\u0000', '').trim()
}

/** As `text`, with null for nothing. */
export function textOrNull(value: string | null | undefined): string | null {
  const cleaned = text(value)
  return cleaned === '' ? null : cleaned
}

/** A reference of Open Dental's: 0 stands for none. */
export function referenceOrNull(value: string | null | undefined): string | null {
  return value === null || value === undefined || value === '0' ? null : value
}

/** A calendar date, or null for Open Dental's "no date": 0001-01-01, in old databases also 0000-00-00. */
export function dateOrNull(value: string | null | undefined): string | null {
  return value === null || value === undefined || value < '1880-01-01' ? null : value.slice(0, 10)
}

export function isTrue(value: string | null | undefined): boolean {
  return value !== null && value !== undefined && value !== '0' && value !== ''
}
