import type { Queryable } from '../../platform/database/queryable.ts'
import type { SecretKey } from '../credentials/secret.ts'

/** Longer than a code is good for: better-auth takes the one before and the one after too, 90 seconds in all. */
const usedForMs = 2 * 60_000

/** Marks a one-time password as used by this person. False when it was used before (RFC 6238 5.2), by a second request at the same time too. */
export async function useTotp(db: Queryable, secretKey: SecretKey, userId: string, code: string): Promise<boolean> {
  // Under every secret key, so that a code is not new again for a process that is a step further in a rotation.
  const hmacs = secretKey.hmacs(`totp ${code.replaceAll(/\s/g, '')}`)
  const { rowCount } = await db.query(
    `insert into used_totp as used (user_id, code_hmac)
     select $1, unnest($2::bytea[]) order by 2
     on conflict (user_id, code_hmac) do update set used_at = clock_timestamp()
       where used.used_at < clock_timestamp() - $3 * interval '1 millisecond'`,
    [userId, hmacs, usedForMs],
  )
  return rowCount === hmacs.length
}
