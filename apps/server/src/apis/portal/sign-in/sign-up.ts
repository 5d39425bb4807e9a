import { admitAttempt } from '../../../modules/sign-in/attempt-limit.ts'
import { hashPassword } from '../../../modules/sign-in/create-person.ts'
import { withMinimumDuration } from '../../../modules/sign-in/password/minimum-duration.ts'
import { requireGoodPassword } from '../../../modules/sign-in/password/password-rule.ts'
import { requestSignUp } from '../../../modules/sign-in/sign-up.ts'
import type { PortalHandlers } from '../shared/context.ts'

/** Signing up: the answer and its time are the same whether the address has an account or not. */
export const signUpHandlers: PortalHandlers<'signUp'> = {
  signUp: async ({ pool, secretKey, auth, publicUrl }, { body, ip }) => {
    const { side, tenant_name: tenantName, name, email, password } = body
    await admitAttempt(pool, secretKey, 'mail', { ip, account: email })
    await requireGoodPassword(password, [name, email, tenantName])
    const passwordHash = await hashPassword(auth, password)
    await withMinimumDuration(() =>
      requestSignUp(pool, secretKey, publicUrl, { side, tenantName, name, email, passwordHash }),
    )
    return { done: true }
  },
}
