import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SendMail } from './delivery.ts'

/** Writes mails into a folder instead of sending them, one file each, which any mail program opens. Mode 0600: their links are secrets. */
export function createMailFolder(dir: string, now: () => Date): SendMail {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return async ({ id, recipient, subject, text }) => {
    const sentAt = now().toISOString()
    const path = join(dir, `${sentAt.replaceAll(':', '-')}-${id}.eml`)
    const head = [
      'From: Bridgework <bridgework@localhost>',
      `To: ${recipient}`,
      `Subject: ${subject}`,
      `Date: ${sentAt}`,
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
    ]
    // Written aside and renamed, so that nobody reads half a mail.
    writeFileSync(`${path}.new`, `${head.map(onOneLine).join('\n')}\n\n${text}`, { mode: 0o600 })
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
        text: mail.slice(end + 2),
      }
    })
}

/** A name that somebody chose must not begin a header of its own. */
function onOneLine(header: string): string {
  return header.replace(/\p{Cc}/gu, ' ')
}
