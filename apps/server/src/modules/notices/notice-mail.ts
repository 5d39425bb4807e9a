import { isFixedKind, type NoticeKind } from '@bridgework/contract/portal'
import type { Mail } from '../mail/queue.ts'

/** What is said. `path`: the portal's page on which to act. Never a patient, and no id of a record. */
export type NoticeText = { title: string; body: string; path: string }

/** Notices in one digest; the rest are in the portal. */
export const digestMax = 50

type Recipient = { email: string; name: string }
type Told = NoticeText & { tenantName: string; kind: NoticeKind }

/** The mail of one notice. Each sentence is on one line: mail programs fold lines themselves. */
export function noticeMail(publicUrl: string, to: Recipient, notice: Told): Mail {
  const isFixed = isFixedKind(notice.kind)
  return {
    recipient: to.email,
    subject: `${notice.title} · ${notice.tenantName}`,
    text: `Hello ${to.name},

${notice.body}

Open this page to see more, or to act:
${publicUrl}${notice.path}

You get this mail as a member of ${notice.tenantName} on Bridgework. ${
      isFixed
        ? 'Mails about security cannot be turned off.'
        : `To get such mails once a day, or none, open:\n${settingsUrlOf(publicUrl)}`
    }
`,
    ...(!isFixed && { settingsUrl: settingsUrlOf(publicUrl) }),
  }
}

/** One mail with all that came since the last one, of all that the person is a member of. The newest first. */
export function digestMail(publicUrl: string, to: Recipient, notices: readonly Told[]): Mail {
  const shown = notices.slice(0, digestMax)
  const left = notices.length - shown.length
  const entries = shown.map(
    ({ title, tenantName, body, path }) => `${title} · ${tenantName}\n${body}\n${publicUrl}${path}`,
  )
  return {
    recipient: to.email,
    subject: notices.length === 1 ? '1 notice from Bridgework' : `${notices.length} notices from Bridgework`,
    text: `Hello ${to.name},

This is what happened since the last daily mail.

${entries.join('\n\n')}
${left > 0 ? `\n${left} more ${left === 1 ? 'is' : 'are'} on the page "Notices" of the portal.\n` : ''}
To get such mails at once, or none, open:
${settingsUrlOf(publicUrl)}
`,
    settingsUrl: settingsUrlOf(publicUrl),
  }
}

function settingsUrlOf(publicUrl: string): string {
  return `${publicUrl}/account?tab=notices`
}
