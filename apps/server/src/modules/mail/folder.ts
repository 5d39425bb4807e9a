import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SendMail } from './delivery.ts'
import type { Attachment } from './queue.ts'

/** Writes mails into a folder instead of sending them, one file each, which any mail program opens. Mode 0600: their links are secrets. */
export function createMailFolder(dir: string, now: () => Date): SendMail {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return async ({ id, recipient, subject, text, attachment }) => {
    const sentAt = now().toISOString()
    const path = join(dir, `${sentAt.replaceAll(':', '-')}-${id}.eml`)
    const head = [
      'From: Bridgework <bridgework@localhost>',
      `To: ${recipient}`,
      `Subject: ${subject}`,
      `Date: ${sentAt}`,
      'MIME-Version: 1.0',
      attachment ? `Content-Type: multipart/mixed; boundary=${boundary}` : plain,
      'Content-Transfer-Encoding: 8bit',
    ]
    const body = attachment ? withAttachment(text, attachment) : text
    // Written aside and renamed, so that nobody reads half a mail.
    writeFileSync(`${path}.new`, `${head.map(onOneLine).join('\n')}\n\n${body}`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
  }
}

/** The newest mails of such a folder, the newest first. */
export function listMailFolder(
  dir: string,
  max: number,
): { sentAt: string; recipient: string; subject: string; text: string }[] {
  const names = readdirSync(dir).filter((name) => name.endsWith('.eml'))
  return names
    .sort()
    .reverse()
    .slice(0, max)
    .map((name) => {
      const mail = readFileSync(join(dir, name), 'utf8')
      const end = mail.indexOf('\n\n')
      const header = (field: string) => new RegExp(`^${field}: (.*)$`, 'm').exec(mail.slice(0, end))?.[1] ?? ''
      return {
        sentAt: header('Date'),
        recipient: header('To'),
        subject: header('Subject'),
        text: textOf(mail.slice(end + 2)),
      }
    })
}

const plain = 'Content-Type: text/plain; charset=utf-8'
/** A line that no mail has in its text. */
const boundary = '----bridgework-part'

function withAttachment(text: string, { name, text: content }: Attachment): string {
  const file = `Content-Type: application/octet-stream\nContent-Disposition: attachment; filename="${name}"\n\n${content}`
  return `--${boundary}\n${plain}\n\n${text}\n--${boundary}\n${file}\n--${boundary}--\n`
}

/** The text of a mail's body, without what is attached. */
function textOf(body: string): string {
  const [, first] = body.split(`--${boundary}\n`)
  return first === undefined ? body : first.slice(first.indexOf('\n\n') + 2, -1)
}

/** A name that somebody chose must not begin a header of its own. */
function onOneLine(header: string): string {
  return header.replace(/\p{Cc}/gu, ' ')
}
