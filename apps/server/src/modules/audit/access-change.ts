import { type Static, type TObject, Type } from 'typebox'
import { AccessFacts, Code, Flag, Named, orNull, type Said, Text } from './facts.ts'

const { Optional } = Type

/** A change of what a vendor may read. */
export const accessChange = {
  /** Left out in its own history. */
  vendor: Optional(Named),
  before: AccessFacts,
  after: AccessFacts,
  granted: AccessFacts,
  removed: AccessFacts,
  /** Of the whole access, from then on; null: not said, and no end. */
  purpose: orNull(Text),
  endsAt: orNull(Code),
  /** Whether it answers a request of the vendor. */
  isRequested: Flag,
  /** Where another person decided than the one who acted. */
  decidedBy: Optional(Text),
}

/** Its sentence, without its subject, and what the access was and is. */
export function sayAccessChange(facts: Static<TObject<typeof accessChange>>): Said {
  const { vendor, granted, removed, purpose, endsAt, isRequested, decidedBy } = facts
  const name = vendor ? '{vendor}' : 'your company'
  const given = granted.length > 0 && `granted ${name} access to {granted}${isRequested ? ', as requested' : ''}`
  const taken = removed.length > 0 && `removed ${given ? 'its access' : `the access of ${name}`} to {removed}`
  const same = isRequested
    ? `granted the request of ${name}, which had the access already`
    : `set the purpose and the end of the access of ${name}`
  const what = [given, taken].filter(Boolean).join(', and ') || same
  const terms = `${purpose === null ? '' : ' Purpose: {purpose}.'}${endsAt === null ? '' : ' Ends: {endsAt}.'}`
  return {
    what: `${what.charAt(0).toUpperCase()}${what.slice(1)}${decidedBy === undefined ? '' : ', as {decidedBy} decided'}`,
    details: `Before: {before}. After: {after}.${terms}`,
  }
}
