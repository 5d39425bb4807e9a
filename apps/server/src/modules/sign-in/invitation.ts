import type { Side } from '@bridgework/contract/portal'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { recordAudit } from '../audit/store.ts'
import { isSecret, newSecret, type SecretKey } from '../credentials/secret.ts'
import { queueMail } from '../mail/queue.ts'
import { createPerson } from './create-person.ts'
import { findSeat, type Seat, takeSeat } from './seat.ts'
import { invitationMail } from './sign-in-mail.ts'
import { findPersonByEmail } from './store.ts'

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
    side: Side
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
  member: { side: Side; memberId: string },
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

/** What the link of an invitation opens: who is invited to what, and whether the address has an account. Throws Problem invitation_unknown. */
export async function findInvitation(
  db: Queryable,
  secretKey: SecretKey,
  token: string,
): Promise<{ seat: Seat; hasAccount: boolean }> {
  const seat = await requireInvitation(db, secretKey, token)
  return { seat, hasAccount: (await findPersonByEmail(db, seat.email)) !== null }
}

/**
 * Seats whoever the invitation is for. The link came by mail, so it proves the address: a person without an account gets one with the name
 * and password given. One who has an account must be signed in as that address, for a forwarded link must not open it. Throws Problem
 * invitation_unknown and field_invalid, and another Problem when somebody else is signed in, or nobody and there is an account.
 */
export async function acceptInvitation(
  pool: Pool,
  secretKey: SecretKey,
  accepting: {
    token: string
    person: { userId: string; name: string; email: string } | null
    /** For a person without an account. */
    newPerson: { name: string; passwordHash: string } | null
    ip: string
    requestId: string
  },
): Promise<Seat> {
  const { token, person, newPerson, ip, requestId } = accepting
  return await withTransaction(pool, async (client) => {
    const seat = await requireInvitation(client, secretKey, token)
    const email = seat.email.toLowerCase()
    if (person ? person.email !== email : await findPersonByEmail(client, email)) {
      const first = person
        ? 'You are signed in with another address. Sign out'
        : `This address has an account. Sign in with it`
      throw new Problem('account_other', {
        errors: `This invitation is for ${email}. ${first}, then open the link again.`,
      })
    }
    const who = person ?? (newPerson && { ...newPerson, ...(await createPerson(client, { email, ...newPerson })) })
    if (!who) {
      throw new Problem('field_invalid', {
        errors: 'name and password are required, because this address has no account yet.',
      })
    }
    // The member before the invitation, as for those who remove a member: nobody waits in a circle.
    const isSeated = await takeSeat(client, seat, who.userId)
    const { rowCount } = await client.query('delete from invitation where token_hmac = $1', [secretKey.hmac(token)])
    if (!isSeated || rowCount === 0) throw new Problem('invitation_unknown')
    await recordAudit(client, {
      side: seat.side,
      tenantId: seat.tenantId === '' ? null : seat.tenantId,
      userId: who.userId,
      actor: `${who.name} <${email}>`,
      action: 'account.invitation_accept',
      subject: seat.tenantName,
      ip,
      requestId,
    })
    return seat
  })
}

async function requireInvitation(db: Queryable, secretKey: SecretKey, token: string): Promise<Seat> {
  if (!isSecret('bwi', token)) throw new Problem('invitation_unknown')
  const { rows } = await db.query<{ side: Side; member_id: string }>(
    `select side, member_id from invitation where token_hmac = $1 and expires_at > clock_timestamp()`,
    [secretKey.hmac(token)],
  )
  const seat = rows[0] && (await findSeat(db, rows[0].side, rows[0].member_id))
  if (!seat || seat.userId !== null) throw new Problem('invitation_unknown')
  return seat
}
