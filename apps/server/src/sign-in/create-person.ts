import { requireText } from '../directory/field.ts'
import type { Auth } from './auth.ts'

/**
 * Makes an account with a password. `isEmailVerified`: the address was proven already, by a link that was mailed to it. The caller has
 * checked the password, and that no account has this address. The address is kept in lower case, as better-auth compares it.
 */
export async function createPerson(
  auth: Auth,
  person: { email: string; name: string; password: string; isEmailVerified: boolean },
): Promise<{ userId: string }> {
  const context = await auth.$context
  const user = await context.internalAdapter.createUser(
    {
      email: person.email.toLowerCase(),
      name: requireText(person.name, 'your name'),
      emailVerified: person.isEmailVerified,
    },
    { method: 'email-password' },
  )
  await context.internalAdapter.linkAccount({
    userId: user.id,
    providerId: 'credential',
    accountId: user.id,
    password: await context.password.hash(person.password),
  })
  return { userId: user.id }
}
