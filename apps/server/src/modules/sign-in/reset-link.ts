import { createHash } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'

/**
 * How better-auth stores the links for a new password: hashed, so that a stolen copy of the database resets no password, behind a word
 * by which we find a person's links. The word is not better-auth's own prefix, because it also looks for what a caller sent without hashing it.
 */
export const resetLinkStorage = {
  'reset-password:': {
    hash: async (identifier: string) =>
      `${storedPrefix} ${createHash('sha256').update(identifier).digest('base64url')}`,
  },
}

const storedPrefix = 'password-reset-link'

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
