import { findProvider } from '../../../modules/identity-provider/store.ts'
import { getSignInRule } from '../../../modules/membership/sign-in-rule.ts'
import { tenantIdOf } from '../../../modules/membership/tenant.ts'
import { admitAttempt } from '../../../modules/sign-in/attempt-limit.ts'
import { hashPassword } from '../../../modules/sign-in/create-person.ts'
import { acceptInvitation, findInvitation, type Invited } from '../../../modules/sign-in/invitation.ts'
import { requireGoodPassword } from '../../../modules/sign-in/password/password-rule.ts'
import { authenticatePerson } from '../../../modules/sign-in/person.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { requireCsrfToken } from '../shared/csrf.ts'
import { requireFullSignIn, webHeaders } from './sign-in-routes.ts'

/** What a person who was invited does with the link. The token comes in the body, never in an address. */
export const invitationHandlers: PortalHandlers<'findInvitation' | 'acceptInvitation'> = {
  findInvitation: async ({ pool, secretKey }, { body, ip }) => {
    const attempt = await admitAttempt(pool, secretKey, 'link', { ip })
    const { member, tenantName, hasAccount } = await findInvitation(pool, secretKey, body.token)
    await attempt.succeeded()
    const { tenant, email, name, role } = member
    const [{ secondFactorSince }, provider] = await Promise.all([
      getSignInRule(pool, tenant),
      findProvider(pool, tenant),
    ])
    return {
      side: tenant.side,
      tenant_name: tenantName,
      email,
      name,
      role,
      has_account: hasAccount,
      second_factor_required: secondFactorSince !== null,
      identity_provider: provider && { name: provider.name, sign_in_name: provider.signInName },
    }
  },

  acceptInvitation: async ({ pool, secretKey, auth, now }, { body, ip, request, requestId }) => {
    const { person } = await authenticatePerson(auth, webHeaders(request), now())
    if (person) {
      requireCsrfToken(secretKey, person, request)
      requireFullSignIn(person)
    }
    const attempt = await admitAttempt(pool, secretKey, 'link', { ip })
    const newPerson = await newPersonOf(body, await findInvitation(pool, secretKey, body.token))
    const { tenant } = await acceptInvitation(pool, secretKey, {
      token: body.token,
      person,
      newPerson: newPerson && { name: newPerson.name, passwordHash: await hashPassword(auth, newPerson.password) },
      ip,
      requestId,
    })
    await attempt.succeeded()
    return { side: tenant.side, id: tenantIdOf(tenant) }
  },
}

/** Null when the caller gave none: then they are signed in, or the answer says what is missing. */
async function newPersonOf(
  { name, password }: { name?: string; password?: string },
  { member, tenantName }: Invited,
): Promise<{ name: string; password: string } | null> {
  if (name === undefined || password === undefined) return null
  await requireGoodPassword(password, [name, member.email, tenantName])
  return { name, password }
}
