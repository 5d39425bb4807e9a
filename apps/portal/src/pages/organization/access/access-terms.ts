/** What an access is for and its last day, as a person sets them; '' is none. */
export type Terms = { purpose: string; ends_on: string }

/** The members of a change of access that set the terms; none where they stay. */
export function bodyOfTerms(terms: Terms | null): { purpose?: string; ends_on?: string | null } {
  return terms === null ? {} : { purpose: terms.purpose, ends_on: terms.ends_on || null }
}

/** The last day before an end at midnight. Noon of that day is the same day in every time zone of America and Europe. */
export function lastDayOf(endsAt: string | null): string {
  return endsAt === null ? '' : new Date(Date.parse(endsAt) - 12 * 60 * 60_000).toISOString().slice(0, 10)
}
