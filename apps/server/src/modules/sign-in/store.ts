import type { Queryable } from '../../platform/database/queryable.ts'
import { renameMember } from '../membership/member.ts'

/** Who has an account with this e-mail address; null when nobody does. */
export async function findPersonByEmail(
  db: Queryable,
  email: string,
): Promise<{ userId: string; name: string; email: string } | null> {
  const { rows } = await db.query<{ userId: string; name: string; email: string }>(
    'select id as "userId", name, email from portal_user where email = $1',
    [email.trim().toLowerCase()],
  )
  return rows[0] ?? null
}

/** Whether the account still has this address. Waits for whoever holds the account, and holds its address until the transaction ends. */
export async function hasAddress(client: Queryable, { id, email }: { id: string; email: string }): Promise<boolean> {
  const { rows } = await client.query('select from portal_user where id = $1 and email = $2 for share', [id, email])
  return rows.length > 0
}

/** Gives a person another name, on the account and wherever they are a member. Hand down a transaction: both or neither. */
export async function renamePerson(client: Queryable, userId: string, name: string): Promise<void> {
  await client.query(
    `with moment as (select now() as at)
     update portal_user set name = $2, updated_at = moment.at from moment where id = $1`,
    [userId, name],
  )
  await renameMember(client, userId, name)
}

/** How many passkeys a person has. */
export async function countPasskeys(db: Queryable, userId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from portal_passkey where user_id = $1',
    [userId],
  )
  return rows[0]?.count ?? 0
}

/** A person's sessions that have not ended, the latest first; at most 200. */
export async function listSessions(
  db: Queryable,
  userId: string,
): Promise<{ id: string; signedInAt: Date; lastSeenAt: Date; ip: string | null; userAgent: string | null }[]> {
  const { rows } = await db.query<{
    id: string
    signedInAt: Date
    lastSeenAt: Date
    ip: string | null
    userAgent: string | null
  }>(
    `select id, created_at as "signedInAt", updated_at as "lastSeenAt",
            nullif(ip_address, '') as ip, nullif(user_agent, '') as "userAgent"
       from portal_session
      where user_id = $1 and expires_at > now()
      order by updated_at desc, id
      limit 200`,
    [userId],
  )
  return rows
}

/** Ends one of the person's own sessions. False when they have no such one. */
export async function endSession(db: Queryable, userId: string, sessionId: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from portal_session where id = $1 and user_id = $2', [sessionId, userId])
  return rowCount === 1
}

/** Ends all sessions of a person. */
export async function endAllSessions(db: Queryable, userId: string): Promise<void> {
  await db.query('delete from portal_session where user_id = $1', [userId])
}

/** Forgets what has run out: sessions, links, challenges, used one-time passwords and counted tries. */
export async function deleteOldSignIns(db: Queryable): Promise<void> {
  for (const statement of [
    'delete from portal_session where expires_at < now()',
    'delete from portal_verification where expires_at < now()',
    'delete from sign_up where expires_at < now()',
    'delete from sign_in_attempt where forget_at < now()',
    `delete from used_totp where used_at < now() - interval '10 minutes'`,
    // Kept for a while, so that a list of members can say that an invitation is too old.
    `delete from invitation where expires_at < now() - interval '90 days'`,
  ]) {
    await db.query(statement)
  }
}
