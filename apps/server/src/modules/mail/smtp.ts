import { createTransport } from 'nodemailer'
import { codeOf } from '../../platform/errors/error-code.ts'
import type { SendMail } from './delivery.ts'
import { htmlOf } from './html.ts'

/**
 * Hands mails to a mail server. `url`: smtp://user:password@host:port, which then must offer STARTTLS unless it is this machine, or smtps://.
 * `from`: an address, alone or as `Name <address>`.
 */
export function createSmtp(url: string, from: string): { send: SendMail; close: () => void } {
  const { hostname } = new URL(url)
  const transport = createTransport({
    url,
    requireTLS: !['localhost', '127.0.0.1', '[::1]'].includes(hostname),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    send: async ({ id, recipient, subject, text, attachment, settingsUrl }) => {
      await transport
        .sendMail({
          from,
          // As an object: a text would be read as a list of recipients.
          to: { name: '', address: recipient },
          subject,
          text,
          html: htmlOf(text),
          // Without it long lines are folded, and many mail programs show a line break where a sentence was folded.
          textEncoding: 'quoted-printable',
          ...(attachment && {
            attachments: [
              { filename: attachment.name, content: attachment.text, contentType: 'application/octet-stream' },
            ],
          }),
          messageId: `<${id}.mail@${hostname}>`,
          headers: {
            'Auto-Submitted': 'auto-generated',
            ...(settingsUrl !== undefined && { 'List-Unsubscribe': `<${settingsUrl}>` }),
          },
        })
        .catch((error: unknown) => {
          throw markPermanent(error)
        })
    },
    close: () => transport.close(),
  }
}

/** A recipient or message that the server refuses for good (RFC 5321 4.2.1: 5yz). A refused sign-in of this service is not final: somebody mends it. */
function markPermanent(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { responseCode } = error as { responseCode?: number }
  const code = codeOf(error)
  const isRefused = (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500
  return isRefused ? Object.assign(error, { permanent: true }) : error
}
