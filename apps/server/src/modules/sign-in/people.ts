import type { Queryable } from '../../platform/database/queryable.ts'
import type { MemberId } from '../../platform/identity/identity.ts'

/** What an account says of its person. */
export type Account = { name: string; email: string; hasSecondFactor: boolean }

/** The accounts of these people, by user id. */
export async function findAccounts(db: Queryable, userIds: readonly string[]): Promise<Map<string, Account>> {
  const { rows } = await db.query<{ id: string; name: string; email: string; has_second_factor: boolean }>(
    `select id, name, email,
            coalesce(two_factor_enabled, false)
              or exists (select 1 from portal_passkey p where p.user_id = portal_user.id) as has_second_factor
       from portal_user
      where id = any($1::uuid[])`,
    [userIds],
  )
  return new Map(
    rows.map((row) => [row.id, { name: row.name, email: row.email, hasSecondFactor: row.has_second_factor }]),
  )
}

/** Of these members those who have an invitation that still opens. */
export async function openInvitations(db: Queryable, memberIds: readonly MemberId[]): Promise<Set<MemberId>> {
  const { rows } = await db.query<{ member_id: MemberId }>(
    'select member_id from invitation where member_id = any($1::uuid[]) and expires_at > clock_timestamp()',
    [memberIds],
  )
  return new Set(rows.map((row) => row.member_id))
}

/** The link that a member was mailed opens nothing any more. */
export async function endInvitation(db: Queryable, memberId: MemberId): Promise<void> {
  await db.query('delete from invitation where member_id = $1', [memberId])
}
