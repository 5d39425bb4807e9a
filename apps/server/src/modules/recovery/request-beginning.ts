import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { removeMeans } from './means.ts'

/**
 * When a request began: `snapshot` says which transactions it could know of (PostgreSQL's `pg_snapshot`). A request that has proved a password and
 * then waits while the account is given back to its person would begin a session, or add a passkey, a moment later. No clock tells that, because
 * both happen at the same moment.
 */
export type RequestBeginning = { snapshot: string; at: Date }

export async function beginRequest(db: Queryable): Promise<RequestBeginning> {
  const { rows } = await db.query<RequestBeginning>(
    'select pg_current_snapshot()::text as snapshot, clock_timestamp() as at',
  )
  if (!rows[0]) throw new Error('the database has no snapshot')
  return rows[0]
}

/** Marks the account as given back to its person by this transaction. */
export async function markRecovered(client: Queryable, userId: string): Promise<void> {
  await client.query('update portal_user set recovered_in = pg_current_xact_id() where id = $1', [userId])
}

/**
 * Asked at the end of a request that may have begun a session or added a means of signing in. Where the account was given back meanwhile, all that
 * was added since the request began is removed again. Throws Problem sign_in_required then.
 */
export async function requireNotRecovered(
  pool: Pool,
  secretKey: SecretKey,
  userId: string,
  { snapshot, at }: RequestBeginning,
): Promise<void> {
  const { rows } = await pool.query(
    // A transaction that is not over yet is one of another installation, whose backup was restored.
    `select from portal_user
      where id = $1 and not pg_visible_in_snapshot(recovered_in, $2::pg_snapshot)
        and pg_visible_in_snapshot(recovered_in, pg_current_snapshot())`,
    [userId, snapshot],
  )
  if (rows.length === 0) return
  const since = { since: new Date(at.getTime() - clocksDifferMs) }
  await withTransaction(pool, (client) =>
    removeMeans(client, secretKey, userId, {
      password: 'none',
      one_time_password: since,
      recovery_codes: since,
      passkey: since,
      provider_identity: since,
      session: since,
      link: 'none',
      undo_link: 'none',
    }),
  )
  throw new Problem('sign_in_required')
}

/** A session has the time of the process that began it. */
const clocksDifferMs = 60_000
