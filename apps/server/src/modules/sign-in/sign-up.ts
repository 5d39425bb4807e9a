import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import { requireText } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { recordAudit } from '../audit/store.ts'
import { isSecret, newSecret, type SecretKey } from '../credentials/secret.ts'
import { claimCompanyName, requireName } from '../directory/name.ts'
import { requireTimeZone } from '../directory/organization.ts'
import { queueMail } from '../mail/queue.ts'
import { createTenant } from '../membership/create-tenant.ts'
import { activateMember, requireEmail } from '../membership/member.ts'
import { createPerson } from './create-person.ts'
import { alreadySignedUpMail, signUpMail } from './sign-in-mail.ts'
import { findPersonByEmail } from './store.ts'

/** What somebody signs up: a vendor's company, or a practice's organization, and themselves as its owner. */
export type SignUp = {
  side: 'company' | 'organization'
  tenantName: string
  name: string
  email: string
  passwordHash: string
  /** Of a practice; null: it is not known yet. */
  timeZone: string | null
}

const lifetimeMs = 24 * 60 * 60_000

/**
 * Keeps a sign-up and mails the link that completes it. Nothing else exists before: of several sign-ups with one address each has its own
 * password and link, so nobody prepares an account for somebody else. An address that has an account gets a mail that says so, and the
 * caller cannot tell. Throws a Problem for a field that cannot be.
 */
export async function requestSignUp(
  pool: Pool,
  secretKey: SecretKey,
  publicUrl: string,
  signUp: SignUp,
): Promise<void> {
  const email = requireEmail(signUp.email).toLowerCase()
  const name = requireText(signUp.name, 'your name')
  const tenantName =
    signUp.side === 'company'
      ? await withTransaction(pool, async (client) => (await claimCompanyName(client, signUp.tenantName, null)).name)
      : requireName(signUp.tenantName, 'the name of an organization')
  const timeZone = signUp.side === 'organization' && signUp.timeZone ? requireTimeZone(signUp.timeZone) : null
  const known = await findPersonByEmail(pool, email)
  if (known) return await queueMail(pool, alreadySignedUpMail(publicUrl, known))
  const token = newSecret('bwi')
  await withTransaction(pool, async (client) => {
    await client.query(
      `insert into sign_up (token_hmac, secret_key_id, side, tenant_name, name, email, password_hash, time_zone, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + $9 * interval '1 millisecond')`,
      [
        ...[secretKey.hmac(token), secretKey.id, signUp.side, tenantName, name, email, signUp.passwordHash],
        ...[timeZone, lifetimeMs],
      ],
    )
    await queueMail(client, signUpMail(publicUrl, { email, name }, tenantName, token))
  })
}

/** What a mailed link confirms. Throws Problem invitation_unknown for a link that was used or is too old. */
export async function findSignUp(
  pool: Pool,
  secretKey: SecretKey,
  token: string,
): Promise<Omit<SignUp, 'passwordHash' | 'timeZone'>> {
  const { rows } = await pool.query<Omit<SignUp, 'passwordHash' | 'timeZone'>>(
    `select side, tenant_name as "tenantName", name, email from sign_up where ${isLive}`,
    liveValues(secretKey, token),
  )
  const [signUp] = rows
  if (!signUp) throw new Problem('invitation_unknown')
  return signUp
}

/**
 * Makes of a sign-up, whose link came back from the mailbox, an account and the company or organization that it owns: all of it or nothing.
 * Throws Problem invitation_unknown for a link that was used or is too old, and another Problem when the address has got an account meanwhile.
 */
export async function completeSignUp(
  pool: Pool,
  secretKey: SecretKey,
  token: string,
  caller: { ip: string; requestId: string },
): Promise<void> {
  await withTransaction(pool, async (client) => {
    const { rows } = await client.query<SignUp>(
      `delete from sign_up where ${isLive} returning side, tenant_name as "tenantName", name, email, password_hash as "passwordHash",
                                                   time_zone as "timeZone"`,
      liveValues(secretKey, token),
    )
    const [signUp] = rows
    if (!signUp) throw new Problem('invitation_unknown')
    const { userId } = await createPerson(client, signUp)
    const owner = await createTenant(client, signUp.side, {
      name: signUp.tenantName,
      timeZone: signUp.timeZone,
      owner: signUp,
    })
    await activateMember(client, owner.id, userId)
    await recordAudit(client, {
      side: owner.tenant.side,
      tenantId: owner.tenant.id,
      userId,
      actor: `${signUp.name} <${signUp.email}>`,
      action: 'account.sign_up',
      facts: { tenant: signUp.tenantName },
      ...caller,
    })
  })
}

/** Of the values of `liveValues`. One that lives longer than ever given was made before the clock was set back. */
const isLive = `token_hmac = any($1::bytea[]) and expires_at - clock_timestamp() between interval '0' and $2 * interval '1 millisecond'`

function liveValues(secretKey: SecretKey, token: string): unknown[] {
  if (!isSecret('bwi', token)) throw new Problem('invitation_unknown')
  return [secretKey.hmacs(token), lifetimeMs + 60_000]
}
