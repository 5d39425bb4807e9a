import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { type Removal, removeMeans } from './means.ts'
import { markRecovered } from './request-beginning.ts'

/**
 * After a change of the password: links, and sign-ins that were begun with the old one. The person is here and has their second factor; other
 * sessions end with the change itself.
 */
const ofChange: Removal = {
  password: 'none',
  one_time_password: 'none',
  recovery_codes: 'none',
  passkey: 'none',
  provider_identity: 'none',
  session: 'none',
  link: 'all',
  undo_link: 'none',
}

/** Sessions as well. The other means stay: otherwise the mailbox alone would be enough to sign in. */
const ofReset: Removal = { ...ofChange, session: 'all' }

/** Ends what a change of the password ends beside the password. */
export async function endAfterPasswordChange(pool: Pool, secretKey: SecretKey, userId: string): Promise<void> {
  await withTransaction(pool, (client) => removeMeans(client, secretKey, userId, ofChange))
}

/** Ends what a new password by a link ends beside the password. */
export async function endAfterPasswordReset(pool: Pool, secretKey: SecretKey, userId: string): Promise<void> {
  await withTransaction(pool, async (client) => {
    await removeMeans(client, secretKey, userId, ofReset)
    await markRecovered(client, userId)
  })
}
