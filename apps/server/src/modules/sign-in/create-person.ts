import { randomUUID } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'
import { requireText } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { Auth } from './auth.ts'

/** What is kept of a password: scrypt, by better-auth. Takes some 50 ms on purpose, so do it before a transaction and not in one. */
export async function hashPassword(auth: Auth, password: string): Promise<string> {
  const context = await auth.$context
  return await context.password.hash(password)
}

/**
 * Makes an account whose e-mail address was proven by a link that was mailed to it. The address is kept in lower case, as better-auth
 * compares it. Without a password the person signs in through an identity provider, or chooses one by a link. Throws a Problem for a name that cannot be, and when the address has an account.
 */
export async function createPerson(
  db: Queryable,
  person: { email: string; name: string; passwordHash: string | null },
): Promise<{ userId: string }> {
  const userId = randomUUID()
  const { rowCount } = await db.query(
    `insert into portal_user (id, name, email, email_verified) values ($1, $2, $3, true)
     on conflict (email) do nothing`,
    [userId, requireText(person.name, 'your name'), person.email.toLowerCase()],
  )
  if (rowCount === 0) throw new Problem('account_exists')
  if (person.passwordHash === null) return { userId }
  await db.query(
    `insert into portal_account (id, user_id, account_id, provider_id, password) values ($1, $2, $3, 'credential', $4)`,
    [randomUUID(), userId, userId, person.passwordHash],
  )
  return { userId }
}

/** Whether it is this person's password. */
export async function isPasswordOf(db: Queryable, auth: Auth, userId: string, password: string): Promise<boolean> {
  const { rows } = await db.query<{ password: string }>(
    `select password from portal_account where user_id = $1 and provider_id = 'credential'`,
    [userId],
  )
  const context = await auth.$context
  return rows[0] !== undefined && (await context.password.verify({ hash: rows[0].password, password }))
}

/** Gives a person another password, and ends their sessions. */
export async function setPassword(db: Queryable, userId: string, passwordHash: string): Promise<void> {
  await db.query(
    `with ended as (delete from portal_session where user_id = $1),
     moment as (select now() as at)
     update portal_account set password = $2, updated_at = moment.at
       from moment
      where user_id = $1 and provider_id = 'credential'`,
    [userId, passwordHash],
  )
}
