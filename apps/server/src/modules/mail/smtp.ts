import { createTransport } from 'nodemailer'
import { codeOf } from '../../platform/errors/error-code.ts'
import type { SendMail } from './delivery.ts'
import { htmlOf } from './html.ts'

/** A connection is kept for the next mail for so long: many servers greet late on purpose, and close an idle connection after minutes. */
const keptMs = 1_000

/**
 * Hands mails to a mail server, one after the other over a connection that is kept while there are more. `url`: smtp://user:password@host:port, which
 * then must offer STARTTLS unless it is this machine, or smtps://. `from`: an address, alone or as `Name <address>`.
 */
export function createSmtp(url: string, from: string): { send: SendMail; close: () => void } {
  const { hostname } = new URL(url)
  let transport: ReturnType<typeof connect> | null = null
  let ending: NodeJS.Timeout | undefined
  let sending = 0
  const close = () => {
    clearTimeout(ending)
    transport?.close()
    transport = null
  }
  return {
    send: async ({ id, recipient, subject, text, attachment, settingsUrl }) => {
      clearTimeout(ending)
      sending += 1
      transport ??= connect(url)
      try {
        await transport.sendMail({
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
      } catch (error) {
        throw markPermanent(error)
      } finally {
        sending -= 1
        if (sending === 0) ending = setTimeout(close, keptMs).unref()
      }
    },
    close,
  }
}

function connect(url: string) {
  return createTransport({
    url,
    pool: true,
    requireTLS: !['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** A recipient or message that the server refuses for good (RFC 5321 4.2.1: 5yz). A refused sign-in of this service is not final: somebody mends it. */
function markPermanent(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { responseCode } = error as { responseCode?: number }
  const code = codeOf(error)
  const isRefused = (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500
  return isRefused ? Object.assign(error, { permanent: true }) : error
}
