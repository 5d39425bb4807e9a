/**
 * The first that is a zone of the IANA database, or null. Abbreviations ("EST") and offsets are no zones: the one
 * stands for other hours in summer, the other knows no summer.
 */
export function firstTimeZone(...candidates: readonly (string | null | undefined)[]): string | null {
  return candidates.find((name) => typeof name === 'string' && isTimeZone(name)) ?? null
}

export function isTimeZone(name: string): boolean {
  if (name !== 'UTC' && !/^[A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+)*\/[A-Za-z0-9_+-]+$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
