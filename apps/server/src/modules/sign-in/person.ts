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
  /** When the person proved who they are; null: an identity provider began this sign-in, and did not say when the person signed in there. */
  readonly provedAt: Date | null
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
  const identityProviderId = found.session.identityProviderId ?? null
  const provedAt = identityProviderId === null ? found.session.createdAt : (found.session.authenticatedAt ?? null)
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
      identityProviderId,
      sessionId: found.session.id,
      signedInAt,
      provedAt: provedAt && new Date(provedAt),
    },
    cookies: answer.headers.getSetCookie(),
  }
}

/** Whether the person proved recently enough for a sensitive act who they are. */
export function isFresh({ provedAt }: Pick<Person, 'provedAt'>, now: Date): boolean {
  return provedAt !== null && isWithin(provedAt, freshMs, now)
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
