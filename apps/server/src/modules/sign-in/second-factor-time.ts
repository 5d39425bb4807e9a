import type { Queryable } from '../../platform/database/queryable.ts'

/** Notes that an authenticator app counts from now on, with its recovery codes: its first code is being verified. One that counts already stays as it is. */
export async function noteNewApp(db: Queryable, userId: string): Promise<void> {
  await db.query(
    `with moment as (select clock_timestamp() as at)
     update portal_two_factor set added_at = moment.at, codes_made_at = moment.at
       from moment
      where user_id = $1 and verified is not true`,
    [userId],
  )
}

/** Notes that new recovery codes are being made. */
export async function noteNewCodes(db: Queryable, userId: string): Promise<void> {
  await db.query(
    `with moment as (select clock_timestamp() as at)
     update portal_two_factor set codes_made_at = moment.at from moment where user_id = $1`,
    [userId],
  )
}
