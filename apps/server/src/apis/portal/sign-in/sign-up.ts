import { admitAttempt } from '../../../modules/sign-in/attempt-limit.ts'
import { hashPassword } from '../../../modules/sign-in/create-person.ts'
import { withMinimumDuration } from '../../../modules/sign-in/password/minimum-duration.ts'
import { requireGoodPassword } from '../../../modules/sign-in/password/password-rule.ts'
import { findSignUp, requestSignUp } from '../../../modules/sign-in/sign-up.ts'
import type { PortalHandlers } from '../shared/context.ts'

/** Signing up: the answer and its time are the same whether the address has an account or not. */
export const signUpHandlers: PortalHandlers<'signUp' | 'findSignUp'> = {
  signUp: async ({ pool, secretKey, auth, publicUrl }, { body, ip }) => {
    const { side, tenant_name: tenantName, name, email, password, time_zone: timeZone = null } = body
    await admitAttempt(pool, secretKey, 'mail', { ip, account: email })
    await requireGoodPassword(password, [name, email, tenantName])
    const passwordHash = await hashPassword(auth, password)
    await withMinimumDuration(() =>
      requestSignUp(pool, secretKey, publicUrl, { side, tenantName, name, email, passwordHash, timeZone }),
    )
    return { done: true }
  },

  findSignUp: async ({ pool, secretKey }, { body, ip }) => {
    const attempt = await admitAttempt(pool, secretKey, 'link', { ip })
    const { side, tenantName, name, email } = await findSignUp(pool, secretKey, body.token)
    await attempt.succeeded()
    return { side, tenant_name: tenantName, name, email }
  },
}
