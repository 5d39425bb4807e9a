import { admitAttempt } from '../../../modules/sign-in/attempt-limit.ts'
import { requireGoodPassword } from '../../../modules/sign-in/password/password-rule.ts'
import { authenticatePerson } from '../../../modules/sign-in/person.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { factsOf } from '../shared/person-facts.ts'
import { webHeaders } from './sign-in-routes.ts'

/**
 * What a form shows while a new password is typed: the refusal that sending it would meet. The pages do not have the lists, which are
 * megabytes. Nothing of a password is kept or logged.
 */
export const passwordCheckHandlers: PortalHandlers<'checkPassword'> = {
  checkPassword: async ({ pool, secretKey, auth, now }, { body, ip, request }) => {
    await admitAttempt(pool, secretKey, 'password_check', { ip })
    const { person } = await authenticatePerson(auth, webHeaders(request), now())
    const known = person ? await factsOf(pool, { ...person, id: person.userId }) : []
    try {
      await requireGoodPassword(body.password, [...body.about, ...known])
      return { refusal: null }
    } catch (error) {
      if (error instanceof Problem && error.code === 'password_refused') return { refusal: error.errors }
      throw error
    }
  },
}
