import { listMembershipsOf } from '../../../modules/overview/tenants.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import { hasSecondFactor } from '../../../modules/sign-in/second-factor.ts'
import { countPasskeys } from '../../../modules/sign-in/store.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'

/**
 * Throws Problem second_factor_sign_in_required when a second factor is required of the person somewhere, the account has one, and this
 * sign-in was without it: a stolen password must not add a factor of its own beside a passkey.
 */
export async function requireProofToAdd(db: Queryable, person: Person): Promise<void> {
  if (person.gaveSecondFactor || !(await hasSecondFactor(db, person))) return
  if ((await requiringTenants(db, person)).length > 0) throw new Problem('second_factor_sign_in_required')
}

/**
 * Throws Problem second_factor_kept when it is the person's last second factor and one is required of them somewhere. Of two that are removed
 * at the same moment both may go: the person then has to set up another one before they can go on.
 */
export async function requireAnotherFactor(db: Queryable, person: Person, removed: 'app' | 'passkey'): Promise<void> {
  const passkeys = await countPasskeys(db, person.userId)
  const hasAnother = removed === 'app' ? passkeys > 0 : person.isTwoFactorEnabled || passkeys > 1
  if (hasAnother) return
  const names = await requiringTenants(db, person)
  if (names.length === 0) return
  const errors = `This is your last second factor, and ${names.join(' and ')} requires one. Set up another one first.`
  throw new Problem('second_factor_kept', { errors })
}

async function requiringTenants(db: Queryable, { userId }: Person): Promise<string[]> {
  const memberships = await listMembershipsOf(db, userId)
  return (
    memberships
      // An owner whose members sign in through a provider comes back with it when the provider fails.
      .filter((each) => each.secondFactorSince !== null || (each.isProviderRequired && each.role === 'owner'))
      .map(({ name }) => name)
  )
}
