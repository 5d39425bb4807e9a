import { createHash, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { instantText } from '../../platform/database/instant-text.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { violates } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { recordAudit } from '../audit/store.ts'
import { isSecret, newSecret } from '../credentials/secret.ts'
import { queueMail } from '../mail/queue.ts'
import { changeMemberEmail, requireEmail } from '../membership/member.ts'
import { addressTakenMail, confirmAddressMail, emailChangedMail } from './email-change-mail.ts'
import { endResetLinks } from './reset-link.ts'
import { findPersonByEmail } from './store.ts'

/**
 * `change`: mailed to the new address, which it makes the person's. `undo`: mailed to the old address after that, which it restores.
 * Stored in better-auth's table as a hash of the secret, with the person and the address.
 */
type LinkKind = 'change' | 'undo'

/** How long a change can be undone. */
export const undoLifetimeMs = 7 * 24 * 60 * 60_000

const lifetimeMs = { change: 60 * 60_000, undo: undoLifetimeMs }

type Account = { id: string; name: string; email: string }
type Caller = { ip: string; requestId: string }

/**
 * Mails a link to the address that a person wants to have; an earlier link of theirs ends. An address that has an account gets a mail that
 * says so, and the caller cannot tell. Throws a Problem for what is no address, and for the address that the person has.
 */
export async function requestEmailChange(
  pool: Pool,
  publicUrl: string,
  userId: string,
  newEmail: string,
): Promise<void> {
  const email = requireEmail(newEmail).toLowerCase()
  await withTransaction(pool, async (client) => {
    const account = await lockAccount(client, userId)
    if (email === account.email) {
      throw new Problem('field_invalid', { errors: 'This is your address already. Enter another one.' })
    }
    await endEmailChangeLinks(client, userId)
    const known = await findPersonByEmail(client, email)
    if (known) return await queueMail(client, addressTakenMail(known))
    const token = await storeLink(client, 'change', userId, email)
    await queueMail(client, confirmAddressMail(publicUrl, { name: account.name, email }, token))
  })
}

/**
 * Gives the person the address that the link was mailed to. Every other session and every mailed link for a new password ends; the old address
 * gets a link that undoes it. Throws Problem invitation_unknown for a link that was used, replaced or is too old, and another Problem when the
 * address has an account by now.
 */
export async function confirmEmailChange(
  pool: Pool,
  publicUrl: string,
  link: { token: string; keepSessionId: string | null } & Caller,
): Promise<void> {
  await withTransaction(pool, async (client) => {
    const { account, email } = await takeLink(client, 'change', link.token)
    await setEmail(client, account, email)
    await endEmailChangeLinks(client, account.id)
    await client.query('delete from portal_session where user_id = $1 and id is distinct from $2', [
      account.id,
      link.keepSessionId,
    ])
    const undo = await storeLink(client, 'undo', account.id, account.email)
    await queueMail(client, emailChangedMail(publicUrl, account, email, undo, link.ip))
    await recordEmailChange(client, 'account.email_change', account, email, link)
  })
}

/** Ends every link that would give this person another address. Those that undo a change stay: a stranger must not be able to end them. */
async function endEmailChangeLinks(db: Queryable, userId: string): Promise<void> {
  await db.query('delete from portal_verification where identifier like $1 and value like $2', [
    `${storedPrefix('change')} %`,
    `${userId} %`,
  ])
}

async function storeLink(db: Queryable, kind: LinkKind, userId: string, email: string): Promise<string> {
  const token = newSecret('bwi')
  await db.query(
    `insert into portal_verification (id, identifier, value, created_at, expires_at)
     values ($1, $2, $3, clock_timestamp(), clock_timestamp() + $4 * interval '1 millisecond')`,
    [randomUUID(), identifierOf(kind, token), `${userId} ${email}`, lifetimeMs[kind]],
  )
  return token
}

/**
 * Takes a link, once: the account is locked before the link, as by those who end links. `madeAt` is text, which keeps the microseconds of
 * `at`.
 */
export async function takeLink(
  client: Queryable,
  kind: LinkKind,
  token: string,
): Promise<{ account: Account; email: string; madeAt: string; at: Date }> {
  if (!isSecret('bwi', token)) throw new Problem('invitation_unknown')
  const identifier = identifierOf(kind, token)
  const { rows } = await client.query<{ value: string; madeAt: string; at: Date }>(
    // A link of later than now is refused: the clock was set back, and the link would live longer by that.
    `select value, ${instantText('created_at')} as "madeAt", created_at as at
       from portal_verification
      where identifier = $1 and clock_timestamp() between created_at - interval '1 minute' and expires_at`,
    [identifier],
  )
  if (!rows[0]) throw new Problem('invitation_unknown')
  const { value, madeAt, at } = rows[0]
  const [userId = '', email = ''] = value.split(' ')
  const account = await lockAccount(client, userId)
  const { rowCount } = await client.query('delete from portal_verification where identifier = $1', [identifier])
  if (rowCount === 0) throw new Problem('invitation_unknown')
  return { account, email, madeAt, at }
}

async function lockAccount(client: Queryable, userId: string): Promise<Account> {
  const { rows } = await client.query<Account>('select id, name, email from portal_user where id = $1 for update', [
    userId,
  ])
  if (!rows[0]) throw new Problem('invitation_unknown')
  return rows[0]
}

/** On the account and wherever the person is a member or invited. A link for a new password that waits in the other mailbox ends. */
export async function setEmail(client: Queryable, account: Account, email: string): Promise<void> {
  try {
    await client.query(
      `with moment as (select now() as at)
       update portal_user set email = $2, updated_at = moment.at from moment where id = $1`,
      [account.id, email],
    )
  } catch (error) {
    if (violates(error, 'portal_user_email_key')) {
      throw new Problem('account_exists', { errors: 'This e-mail address already has another account.' })
    }
    throw error
  }
  await changeMemberEmail(client, account.id, { from: account.email, to: email })
  await endResetLinks(client, account.id)
}

export async function recordEmailChange(
  client: Queryable,
  action: 'account.email_change' | 'account.email_undo',
  account: Account,
  email: string,
  { ip, requestId }: Caller,
): Promise<void> {
  await recordAudit(client, {
    side: 'account',
    tenantId: null,
    userId: account.id,
    actor: `${account.name} <${account.email}>`,
    action,
    facts: { from: account.email, to: email },
    ip,
    requestId,
  })
}

function identifierOf(kind: LinkKind, token: string): string {
  return `${storedPrefix(kind)} ${createHash('sha256').update(token).digest('base64url')}`
}

function storedPrefix(kind: LinkKind): string {
  return `email-${kind}-link`
}
