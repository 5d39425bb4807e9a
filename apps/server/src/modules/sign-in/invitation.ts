import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { MemberId } from '../../platform/identity/identity.ts'
import { recordAudit } from '../audit/store.ts'
import { isSecret, newSecret, type SecretKey } from '../credentials/secret.ts'
import { requireActiveCompany } from '../directory/company.ts'
import { queueMail } from '../mail/queue.ts'
import { activateMember, findMember, type Member } from '../membership/member.ts'
import { getSignInRule } from '../membership/sign-in-rule.ts'
import { nameOfTenant } from '../membership/tenant.ts'
import { createPerson } from './create-person.ts'
import { invitationMail } from './sign-in-mail.ts'
import { findPersonByEmail } from './store.ts'

/** How long the link of an invitation opens. */
const invitationLifetimeMs = 7 * 24 * 60 * 60_000

/**
 * Mails a link to a member who has not accepted yet; the link of an earlier invitation stops working. Hand down the transaction in which the
 * member was added. The link is returned for an operator who passes it on; it cannot be had again.
 */
export async function inviteMember(
  db: Queryable,
  { secretKey, publicUrl }: { secretKey: SecretKey; publicUrl: string },
  member: Member,
  invitedBy: string,
): Promise<{ link: string }> {
  const token = newSecret('bwi')
  await db.query(
    `insert into invitation (member_id, token_hmac, secret_key_id, expires_at)
     values ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
     on conflict (member_id) do update
       set token_hmac = excluded.token_hmac, secret_key_id = excluded.secret_key_id, created_at = excluded.created_at,
           expires_at = excluded.expires_at`,
    [member.id, secretKey.hmac(token), secretKey.id, invitationLifetimeMs],
  )
  const link = `${publicUrl}/invitation#${token}`
  const tenantName = await nameOfTenant(db, member.tenant)
  const { secondFactorSince } = await getSignInRule(db, member.tenant)
  const isSecondFactorRequired = secondFactorSince !== null
  await queueMail(db, invitationMail(link, member, { tenantName, invitedBy, isSecondFactorRequired }))
  return { link }
}

/** Who is invited: the member, and what the tenant is called. */
export type Invited = { member: Member; tenantName: string }

/** What the link of an invitation opens: who is invited to what, and whether the address has an account. Throws Problem invitation_unknown. */
export async function findInvitation(
  db: Queryable,
  secretKey: SecretKey,
  token: string,
): Promise<Invited & { hasAccount: boolean }> {
  const invited = await requireInvitation(db, secretKey, token)
  return { ...invited, hasAccount: (await findPersonByEmail(db, invited.member.email)) !== null }
}

/**
 * Makes the invited person an active member. The link came by mail, so it proves the address: a person without an account gets one with this
 * name and password. A person with an account must be signed in as that address, because a forwarded link must not work. Throws Problem
 * invitation_unknown, company_closed for a company that is not active, and field_invalid, and another Problem when somebody else is signed in, or nobody and there is an account.
 */
export async function acceptInvitation(
  pool: Pool,
  secretKey: SecretKey,
  accepting: {
    token: string
    person: { userId: string; name: string; email: string } | null
    /** For a person without an account. */
    newPerson: { name: string; passwordHash: string | null } | null
    ip: string
    requestId: string
  },
): Promise<Member> {
  const { token, person, newPerson, ip, requestId } = accepting
  return await withTransaction(pool, async (client) => {
    const { member, tenantName } = await requireInvitation(client, secretKey, token)
    const { tenant } = member
    if (tenant.side === 'company') await requireActiveCompany(client, tenant.id)
    const email = member.email.toLowerCase()
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
    const isActivated = await activateMember(client, member.id, who.userId)
    const { rowCount } = await client.query('delete from invitation where token_hmac = any($1::bytea[])', [
      secretKey.hmacs(token),
    ])
    if (!isActivated || rowCount === 0) throw new Problem('invitation_unknown')
    await recordAudit(client, {
      side: tenant.side,
      tenantId: tenant.id,
      userId: who.userId,
      actor: `${who.name} <${email}>`,
      action: 'account.invitation_accept',
      facts: { tenant: tenantName },
      ip,
      requestId,
    })
    return member
  })
}

async function requireInvitation(db: Queryable, secretKey: SecretKey, token: string): Promise<Invited> {
  if (!isSecret('bwi', token)) throw new Problem('invitation_unknown')
  const { rows } = await db.query<{ member_id: MemberId }>(
    // A link of later than now is refused like an expired one: the clock was set back, and the link would live longer by that.
    `select member_id
       from invitation
      where token_hmac = any($1::bytea[]) and clock_timestamp() between created_at - interval '1 minute' and expires_at`,
    [secretKey.hmacs(token)],
  )
  const member = rows[0] && (await findMember(db, rows[0].member_id))
  if (!member || member.userId !== null) throw new Problem('invitation_unknown')
  return { member, tenantName: await nameOfTenant(db, member.tenant) }
}
