import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import { recordAudit } from '../audit/store.ts'
import { queueMail } from '../mail/queue.ts'
import { noticeMail } from './sign-in-mail.ts'

/** What happens to an account, and what the person is told by mail so that nobody else does it unseen; null: nothing. */
const notices = {
  'account.sign_in': null,
  'account.sign_out': null,
  'account.session_end': null,
  'account.update': null,
  'account.password_change': 'Your password was changed. All other sign-ins were ended.',
  'account.password_reset': 'Your password was changed by a link that we mailed to you. All sign-ins were ended.',
  'account.two_factor_enable': 'One-time passwords were switched on for your account.',
  'account.two_factor_disable': 'One-time passwords were switched off for your account.',
  'account.recovery_code_use': 'A recovery code was used to sign in. It counts only once.',
  'account.recovery_codes_renew': 'New recovery codes were made for your account. The old ones count no more.',
  'account.passkey_add': 'A passkey was added to your account.',
  'account.passkey_delete': 'A passkey was removed from your account.',
} as const satisfies Record<string, string | null>

export type AccountAction = keyof typeof notices

/** Puts what happened to an account on record, and tells the person by mail where somebody else could be at work. */
export async function recordAccountEvent(
  pool: Pool,
  event: {
    action: AccountAction
    user: { id: string; name: string; email: string }
    subject?: string
    ip: string
    requestId: string
  },
): Promise<void> {
  const { action, user, ip, requestId } = event
  await withTransaction(pool, async (client) => {
    await recordAudit(client, {
      side: 'account',
      tenantId: null,
      userId: user.id,
      actor: `${user.name} <${user.email}>`,
      action,
      subject: event.subject ?? null,
      ip,
      requestId,
    })
    const notice = notices[action]
    if (notice !== null) await queueMail(client, noticeMail(user, notice, ip))
  })
}
