import type { Pool } from 'pg'
import { isAttemptDue, nextAttemptAt } from '../../platform/database/attempts.ts'
import { codeOf } from '../../platform/errors/error-code.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import type { Attachment, Mail } from './queue.ts'

/** A mail that is tried now. `id` is the same at every try, so that a mailbox can know a mail that came twice. */
export type OutgoingMail = Mail & { id: string }

/** Hands a mail on; throws when it was not taken. An error with `permanent: true` says that trying again is no use. */
export type SendMail = (mail: OutgoingMail) => Promise<void>

/** After a minute, two, four … and then every six hours: a day and a half in all. What failed is kept, for the operator to see. */
export const attemptsMax = 12
const pauses = { first: '1 minute', longest: '6 hours' }

/**
 * Hands on the mails of the `mail` table, in every server process: each process takes its own. A try begins by moving the next one into the
 * future, so a process that dies leaves its mail to the others, and a mail may come twice but is never lost. A mail that was taken is deleted,
 * because its links are secrets.
 */
export function createMailDelivery(deps: { pool: Pool; send: SendMail; log: Log; everyMs?: number }) {
  const { pool, send, log, everyMs = 1_000 } = deps

  /** Tries everything that is due; how many mails were taken. */
  const deliverDue = async (): Promise<number> => {
    let taken = 0
    for (let mail = await takeNext(pool); mail; mail = await takeNext(pool)) {
      try {
        await send(mail)
        await pool.query('delete from mail where id = $1', [mail.id])
        taken += 1
      } catch (error) {
        const reason = reasonOf(error)
        log({ event: 'task.failed', task: 'mail', error: reason })
        const isPermanent = error instanceof Error && 'permanent' in error && error.permanent === true
        await pool.query(
          'update mail set last_error = $2, attempts = case when $3 then $4 else attempts end where id = $1',
          [mail.id, reason, isPermanent, attemptsMax],
        )
      }
    }
    return taken
  }

  const { start, stop } = createLoop({ steps: { mail: deliverDue }, everyMs, log })
  return { deliverDue, start, stop }
}

async function takeNext(pool: Pool): Promise<OutgoingMail | null> {
  const { rows } = await pool.query<OutgoingMail & { file: Attachment | null; settings_url: string | null }>(
    `update mail
        set attempts = attempts + 1,
            next_attempt_at = ${nextAttemptAt('clock_timestamp()', pauses)}
      where id = (
        select id from mail
         where ${isAttemptDue('clock_timestamp()', pauses)} and attempts < $1
         order by next_attempt_at, id
         limit 1
           for update skip locked
      )
     returning id, recipient, subject, text_body as text, settings_url,
               case when attachment_name is not null then json_build_object('name', attachment_name, 'text', attachment) end as file`,
    [attemptsMax],
  )
  if (!rows[0]) return null
  const { file, settings_url: settingsUrl, ...mail } = rows[0]
  return { ...mail, ...(file && { attachment: file }), ...(settingsUrl !== null && { settingsUrl }) }
}

/** Its code alone: a mail server's words hold the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { responseCode } = error as { responseCode?: unknown }
  return [codeOf(error) ?? error.name, responseCode].filter(Boolean).join(' ')
}
