import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { queueMail } from '../mail/queue.ts'
import { recordEmailChange, setEmail, takeLink, undoLifetimeMs } from '../sign-in/email-change.ts'
import { makeResetLink } from '../sign-in/reset-link.ts'
import { resetMail } from '../sign-in/sign-in-mail.ts'
import { removeMeans } from './means.ts'
import { emailRestoredMail } from './recovery-mail.ts'
import { markRecovered } from './request-beginning.ts'

/**
 * Restores the address that the link was mailed to. Somebody else had the account, and nobody knows since when. So every session, the password
 * and all links end, because a stranger may have them, and every other means goes that was added since the change or in the 7 days before it: as
 * long as the link can be used, so its person need not have read a mail that is older. Older ones stay, or whoever has an old mailbox would get
 * past the second factor. Links that undo later changes end, because the stranger has them; one of an earlier change stays. A new password is
 * chosen by a link. Throws the Problems of `confirmEmailChange`.
 */
export async function undoEmailChange(
  pool: Pool,
  { secretKey, publicUrl }: { secretKey: SecretKey; publicUrl: string },
  link: { token: string; ip: string; requestId: string },
): Promise<void> {
  await withTransaction(pool, async (client) => {
    const { account, email, madeAt, at } = await takeLink(client, 'undo', link.token)
    await setEmail(client, account, email)
    const lately = { since: new Date(at.getTime() - undoLifetimeMs) }
    const removed = await removeMeans(client, secretKey, account.id, {
      password: 'all',
      session: 'all',
      link: 'all',
      undo_link: { since: madeAt },
      one_time_password: lately,
      recovery_codes: lately,
      passkey: lately,
      provider_identity: lately,
    })
    await markRecovered(client, account.id)
    await recordEmailChange(client, 'account.email_undo', account, email, link)
    const person = { name: account.name, email }
    await queueMail(client, emailRestoredMail(person, removed))
    await queueMail(client, resetMail(publicUrl, person, await makeResetLink(client, account.id)))
  })
}
