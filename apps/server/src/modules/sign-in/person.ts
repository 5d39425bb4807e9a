import type { Auth } from './auth.ts'
import { freshMs, sessionLifetimeMs } from './auth.ts'

/** Proof that a request came from a person who is signed in. Only `authenticatePerson` makes one. */
export type Person = {
  readonly brand: 'Person'
  readonly userId: string
  readonly name: string
  readonly email: string
  readonly isTwoFactorEnabled: boolean
  /** Whether this sign-in proved a second factor. */
  readonly gaveSecondFactor: boolean
  /** The identity provider that began this sign-in, which is for its tenant alone and for nothing of the account; null: the person themselves. */
  readonly identityProviderId: string | null
  readonly sessionId: string
  readonly signedInAt: Date
}

/**
 * Who is signed in, by the session's cookie; null when nobody is, when the session was idle for too long, or is older than 12 hours, or of an
 * unknown age, which ends it. Each call counts as activity, unless the request says `X-Background: true`: a page that refreshes itself is not activity.
 * `cookies`: what the answer must set, because the session's end has moved.
 */
export async function authenticatePerson(
  auth: Auth,
  headers: Headers,
  now: Date,
): Promise<{ person: Person | null; cookies: string[] }> {
  const disableRefresh = headers.get('x-background') === 'true'
  const answer = await auth.api.getSession({ headers, query: { disableRefresh }, returnHeaders: true })
  const found = answer.response
  if (!found) return { person: null, cookies: [] }
  const [signedInAt, lastSeenAt] = [new Date(found.session.createdAt), new Date(found.session.updatedAt)]
  if (![signedInAt, lastSeenAt].every((moment) => isWithin(moment, sessionLifetimeMs, now))) {
    await auth.api.signOut({ headers })
    return { person: null, cookies: [] }
  }
  return {
    person: {
      brand: 'Person',
      userId: found.user.id,
      name: found.user.name,
      email: found.user.email,
      isTwoFactorEnabled: found.user.twoFactorEnabled ?? false,
      gaveSecondFactor: found.session.secondFactor ?? false,
      identityProviderId: found.session.identityProviderId ?? null,
      sessionId: found.session.id,
      signedInAt,
    },
    cookies: answer.headers.getSetCookie(),
  }
}

/** Whether the sign-in is recent enough for a sensitive act. */
export function isFresh(person: Person, now: Date): boolean {
  return isWithin(person.signedInAt, freshMs, now)
}

/** How far the clocks of two processes may differ. */
const aheadMsMax = 60_000

/**
 * Whether a moment is less than `ms` ago. One that lies ahead is not: the clock was set back since, so its age is unknown, and a session
 * would live longer by what the clock lost.
 */
function isWithin(moment: Date, ms: number, now: Date): boolean {
  const age = now.getTime() - moment.getTime()
  return age >= -aheadMsMax && age < ms
}
