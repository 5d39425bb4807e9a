import { randomUUID } from 'node:crypto'
import { requireText } from '../directory/field.ts'
import type { Queryable } from '../directory/queryable.ts'
import { Refusal } from '../directory/refusal.ts'
import type { Auth } from './auth.ts'

/** What is kept of a password: scrypt, by better-auth. Takes some 50 ms on purpose, so do it before a transaction and not in one. */
export async function hashPassword(auth: Auth, password: string): Promise<string> {
  const context = await auth.$context
  return await context.password.hash(password)
}

/**
 * Makes an account whose e-mail address was proven by a link that was mailed to it. The address is kept in lower case, as better-auth
 * compares it. Throws a Refusal for a name that cannot be, and when the address has an account.
 */
export async function createPerson(
  db: Queryable,
  person: { email: string; name: string; passwordHash: string },
): Promise<{ userId: string }> {
  const userId = randomUUID()
  const { rowCount } = await db.query(
    `insert into portal_user (id, name, email, email_verified) values ($1, $2, $3, true)
     on conflict (email) do nothing`,
    [userId, requireText(person.name, 'your name'), person.email.toLowerCase()],
  )
  if (rowCount === 0)
    throw new Refusal('account_exists', 'This e-mail address has an account already: sign in with it.')
  await db.query(
    `insert into portal_account (id, user_id, account_id, provider_id, password) values ($1, $2, $3, 'credential', $4)`,
    [randomUUID(), userId, userId, person.passwordHash],
  )
  return { userId }
}
