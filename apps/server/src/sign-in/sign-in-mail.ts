import type { Mail } from '../mail/queue.ts'

type Recipient = { email: string; name: string }

/** The secret stands behind the #, so that no server, proxy or Referer header ever sees it. */
export function resetMail(publicUrl: string, to: Recipient, token: string): Mail {
  return {
    recipient: to.email,
    subject: 'Choose a new password for Bridgework',
    text: `Hello ${to.name},

somebody, probably you, asked for a new password for your Bridgework account. Choose it here within the next hour:

${publicUrl}/reset-password#${token}

If it was not you, do nothing: your password stays as it is.
`,
  }
}

/** Proves that the address is the person's. */
export function verificationMail(publicUrl: string, to: Recipient, token: string): Mail {
  return {
    recipient: to.email,
    subject: 'Confirm your e-mail address for Bridgework',
    text: `Hello ${to.name},

confirm that this is your e-mail address, within a day:

${publicUrl}/verify-email#${token}

If you did not sign up for Bridgework, do nothing.
`,
  }
}

/** Lets a member in whom somebody else added. `link` holds the secret. */
export function invitationMail(
  link: string,
  to: Recipient,
  invitation: { tenantName: string; invitedBy: string },
): Mail {
  return {
    recipient: to.email,
    subject: `You are invited to ${invitation.tenantName} on Bridgework`,
    text: `Hello ${to.name},

${invitation.invitedBy} invites you to ${invitation.tenantName} on Bridgework. Accept within seven days:

${link}

If you do not know what this is about, do nothing.
`,
  }
}
