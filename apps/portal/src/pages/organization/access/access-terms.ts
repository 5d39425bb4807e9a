/** What an access is for and its last day, as a person sets them; '' is none. */
export type Terms = { purpose: string; ends_on: string }

/** The members of a change of access that set the terms; none where they stay. */
export function bodyOfTerms(terms: Terms | null): { purpose?: string; ends_on?: string | null } {
  return terms === null ? {} : { purpose: terms.purpose, ends_on: terms.ends_on || null }
}
