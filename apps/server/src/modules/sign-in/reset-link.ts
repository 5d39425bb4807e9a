import { createHash, randomUUID } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'
import { newSecret } from '../credentials/secret.ts'

/** How long a link for a new password can be used. */
export const resetLinkSeconds = 60 * 60

const tokenPrefix = 'reset-password:'
const storedPrefix = 'password-reset-link'

/**
 * How better-auth stores the links for a new password: hashed, so that a stolen copy of the database resets no password, behind a word
 * by which we find a person's links. The word is not better-auth's own prefix, because it also looks for what a caller sent without hashing it.
 */
export const resetLinkStorage = { [tokenPrefix]: { hash: async (identifier: string) => storedIdentifier(identifier) } }

function storedIdentifier(identifier: string): string {
  return `${storedPrefix} ${createHash('sha256').update(identifier).digest('base64url')}`
}

/** Makes a link for a new password, as better-auth would, in the transaction in which an account is given back. Answers its secret. */
export async function makeResetLink(client: Queryable, userId: string): Promise<string> {
  const token = newSecret('bwi')
  await client.query(
    `insert into portal_verification (id, identifier, value, created_at, expires_at)
     values ($1, $2, $3, clock_timestamp(), clock_timestamp() + $4 * interval '1 second')`,
    [randomUUID(), storedIdentifier(`${tokenPrefix}${token}`), userId, resetLinkSeconds],
  )
  return token
}

/** Ends the link with this secret. */
export async function endResetLink(db: Queryable, token: string): Promise<void> {
  await db.query('delete from portal_verification where identifier = $1', [storedIdentifier(`${tokenPrefix}${token}`)])
}

/** Ends every link for a new password of this person. */
export async function endResetLinks(db: Queryable, userId: string): Promise<void> {
  await db.query('delete from portal_verification where value = $1 and identifier like $2', [
    userId,
    `${storedPrefix} %`,
  ])
}

/** Ends every link for a new password of this person but the newest. Of two requests at once, both keep the same one. */
export async function endOlderResetLinks(db: Queryable, userId: string): Promise<void> {
  await db.query(
    `delete from portal_verification
      where value = $1 and identifier like $2
        and id <> (select id from portal_verification
                    where value = $1 and identifier like $2
                    order by created_at desc, id
                    limit 1)`,
    [userId, `${storedPrefix} %`],
  )
}
