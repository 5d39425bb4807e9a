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

/** Proves that the address is the person's. It says what becomes of it, because a stranger may have typed it. */
export function signUpMail(publicUrl: string, to: Recipient, tenantName: string, token: string): Mail {
  return {
    recipient: to.email,
    subject: 'Confirm your e-mail address for Bridgework',
    text: `Hello ${to.name},

somebody, probably you, signed up ${tenantName} for Bridgework with this address. Confirm it within a day, then sign in with the password
that was chosen:

${publicUrl}/verify-email#${token}

If it was not you, do nothing: without this link there is no account.
`,
  }
}

/** For an address that has an account: whoever signed up learns this here, and a stranger nowhere. */
export function alreadySignedUpMail(publicUrl: string, to: Recipient): Mail {
  return {
    recipient: to.email,
    subject: 'You have a Bridgework account already',
    text: `Hello ${to.name},

somebody, probably you, signed up for Bridgework with this address, which has an account already. Sign in, or choose a new password:

${publicUrl}/sign-in
${publicUrl}/forgot-password

To act for one more company or practice, ask its owner for an invitation. If it was not you, do nothing: nothing has changed.
`,
  }
}

/** Tells the owner of an account what was done to it. */
export function noticeMail(to: Recipient, what: string, ip: string): Mail {
  return {
    recipient: to.email,
    subject: 'Your Bridgework account was changed',
    text: `Hello ${to.name},

${what} The request came from ${ip}.

If it was not you, choose a new password at once and look at your sign-ins.
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
