import type { Queryable } from '../../platform/database/queryable.ts'

/** A mail in plain text. `subject` and `text` hold no patient's data, ever. */
export type Mail = { recipient: string; subject: string; text: string }

/** Puts a mail on its way. Hand down the transaction that is its reason: both happen or neither. */
export async function queueMail(db: Queryable, mail: Mail): Promise<void> {
  await db.query('insert into mail (recipient, subject, text_body) values ($1, $2, $3)', [
    mail.recipient,
    mail.subject,
    mail.text,
  ])
}

/** Deletes mails after 7 days, sent or not: the links in them have expired by then. */
export async function deleteOldMails(db: Queryable): Promise<void> {
  await db.query(`delete from mail where created_at < now() - interval '7 days'`)
}
