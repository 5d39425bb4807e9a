import type { Queryable } from '../../platform/database/queryable.ts'

/**
 * A mail in plain text, with a file or none; HTML is made of it when it is sent. It holds no patient's data, ever. `settingsUrl`: where the
 * person turns mails of this kind off, for those that can be off.
 */
export type Mail = { recipient: string; subject: string; text: string; attachment?: Attachment; settingsUrl?: string }

/** `name`: of the file, in ASCII without a path. */
export type Attachment = { name: string; text: string }

/** Puts a mail on its way. Hand down the transaction that is its reason: both happen or neither. */
export async function queueMail(db: Queryable, mail: Mail): Promise<void> {
  await db.query(
    `insert into mail (recipient, subject, text_body, attachment_name, attachment, settings_url)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      ...[mail.recipient, mail.subject, mail.text],
      ...[mail.attachment?.name ?? null, mail.attachment?.text ?? null, mail.settingsUrl ?? null],
    ],
  )
}

/** Deletes mails after 7 days, sent or not: the links in them have expired by then. */
export async function deleteOldMails(db: Queryable): Promise<void> {
  await db.query(`delete from mail where created_at < now() - interval '7 days'`)
}
