import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { AuditAction, FactsOf } from '../audit/in-words.ts'
import { recordAudit } from '../audit/store.ts'
import { queueMail } from '../mail/queue.ts'
import { noticeMail } from './sign-in-mail.ts'

/** The events of an account, each with the mail's text that makes a stranger's action visible to the person; null: no mail. */
const notices = {
  'account.sign_in': null,
  'account.sign_out': null,
  'account.session_end': null,
  'account.sign_out_everywhere': 'All sessions of your account have ended, on every device.',
  'account.update': null,
  'account.password_change': 'Your password was changed. All your other sessions have ended.',
  'account.password_reset':
    'Your password was changed with a link from a mail that we sent you. All your sessions have ended.',
  'account.two_factor_enable': 'Two-factor sign-in was turned on for your account.',
  'account.two_factor_disable': 'Two-factor sign-in was turned off for your account.',
  'account.recovery_code_use': 'A recovery code was used to sign in. It cannot be used again.',
  'account.recovery_codes_renew': 'New recovery codes were generated for your account. The old codes no longer work.',
  'account.identity_link':
    'An identity provider of a company or practice can now sign you in for it. Your account’s activity names it.',
  'account.passkey_add': 'A passkey was added to your account.',
  'account.passkey_delete': 'A passkey was removed from your account.',
} as const satisfies Partial<Record<AuditAction, string | null>>

type AccountAction = keyof typeof notices

/** What was done with an account, and whose it is. `facts`: left out where the action says all. */
export type AccountEvent = {
  [Action in AccountAction]: {
    action: Action
    user: { id: string; name: string; email: string }
  } & (None extends FactsOf<Action> ? { facts?: FactsOf<Action> } : { facts: FactsOf<Action> })
}[AccountAction]
type None = FactsOf<'account.sign_out'>

/** Records an event of an account, and mails the person where a stranger could have caused it. */
export async function recordAccountEvent(
  pool: Pool,
  { action, facts = {}, user, ip, requestId }: AccountEvent & { ip: string; requestId: string },
): Promise<void> {
  await withTransaction(pool, async (client) => {
    await recordAudit(client, {
      side: 'account',
      tenantId: null,
      userId: user.id,
      actor: `${user.name} <${user.email}>`,
      action,
      facts,
      ip,
      requestId,
    })
    const notice = notices[action]
    if (notice !== null) await queueMail(client, noticeMail(user, notice, ip))
  })
}
