import { newSecret, type SecretKey } from '../access/secret.ts'
import type { Queryable } from '../directory/queryable.ts'
import { queueMail } from '../mail/queue.ts'
import { invitationMail } from './sign-in-mail.ts'

/** How long the link of an invitation opens. */
const invitationLifetimeMs = 7 * 24 * 60 * 60_000

/**
 * Mails a member who has not come yet the link that lets them in; the link of an earlier invitation opens nothing any more. Hand down the
 * transaction in which the member was added. The link comes back for an operator who hands it over; it cannot be had again.
 */
export async function inviteMember(
  db: Queryable,
  secretKey: SecretKey,
  publicUrl: string,
  invitation: {
    side: 'company' | 'organization' | 'operator'
    memberId: string
    email: string
    name: string
    /** Of the company or organization, as the mail calls it. */
    tenantName: string
    invitedBy: string
  },
): Promise<{ link: string }> {
  const link = await createInvitationLink(db, secretKey, publicUrl, invitation)
  await queueMail(db, invitationMail(link, invitation, invitation))
  return { link }
}

async function createInvitationLink(
  db: Queryable,
  secretKey: SecretKey,
  publicUrl: string,
  member: { side: 'company' | 'organization' | 'operator'; memberId: string },
): Promise<string> {
  const token = newSecret('bwi')
  await db.query(
    `insert into invitation (side, member_id, token_hmac, expires_at)
     values ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
     on conflict (side, member_id) do update
       set token_hmac = excluded.token_hmac, created_at = now(), expires_at = excluded.expires_at`,
    [member.side, member.memberId, secretKey.hmac(token), invitationLifetimeMs],
  )
  return `${publicUrl}/invitation#${token}`
}
