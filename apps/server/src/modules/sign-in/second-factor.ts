import type { Queryable } from '../../platform/database/queryable.ts'
import type { Person } from './person.ts'
import { countPasskeys } from './store.ts'

/**
 * What a person still owes a tenant that asks for a second factor; null: nothing. `next_sign_in`: nothing yet, because the rule is newer than
 * the sign-in. `sign_in`: the account has one, and this sign-in was without it. `set_up`: the account has none.
 */
export type SecondFactorOwed = 'next_sign_in' | 'sign_in' | 'set_up' | null

/**
 * Both must be so: the account has a second factor, and this sign-in proved one. So a stolen password opens nothing where the account has a
 * passkey alone, and a person who removes the last two factors in two tabs at once has to set up another one. `since` null: the tenant asks for none.
 */
export function secondFactorOwed(
  since: Date | null,
  person: Pick<Person, 'gaveSecondFactor' | 'identityProviderId' | 'signedInAt'>,
  hasOne: boolean,
): SecondFactorOwed {
  if (since === null) return null
  // A provider proves a second factor where the owner says so, and nothing can be set up in such a session.
  const canHaveOne = hasOne || person.identityProviderId !== null
  if (canHaveOne && person.gaveSecondFactor) return null
  if (person.signedInAt < since) return canHaveOne ? null : 'next_sign_in'
  return canHaveOne ? 'sign_in' : 'set_up'
}

/** Whether the account has an authenticator app or a passkey. */
export async function hasSecondFactor(
  db: Queryable,
  person: Pick<Person, 'userId' | 'isTwoFactorEnabled'>,
): Promise<boolean> {
  return person.isTwoFactorEnabled || (await countPasskeys(db, person.userId)) > 0
}

/** Notes that the person of this session proved a second factor in it: they have just made the passkey. */
export async function markSecondFactor(db: Queryable, sessionId: string): Promise<void> {
  await db.query('update portal_session set second_factor = true where id = $1', [sessionId])
}
