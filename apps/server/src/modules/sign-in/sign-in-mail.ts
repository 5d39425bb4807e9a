import { quoted } from '../audit/quoted.ts'
import type { Mail } from '../mail/queue.ts'

type Recipient = { email: string; name: string }

/** The secret is behind the #, so that no server, proxy or Referer header ever sees it. */
export function resetMail(publicUrl: string, to: Recipient, token: string): Mail {
  return {
    recipient: to.email,
    subject: 'Choose a new password for Bridgework',
    text: `Hello ${to.name},

We received a request for a new password for your Bridgework account.
Open this link within an hour and choose a new password:

${publicUrl}/reset-password#${token}

If you did not request this, do nothing. Your password does not change.
`,
  }
}

/** Proves that the address is the person's. It says what doing nothing means, because a stranger may have typed the address. */
export function signUpMail(publicUrl: string, to: Recipient, tenantName: string, token: string): Mail {
  return {
    recipient: to.email,
    subject: 'Confirm your e-mail address for Bridgework',
    text: `Hello ${to.name},

We received a sign-up of ${quoted(tenantName)} for Bridgework with this e-mail address.
Open this link within a day, and confirm the sign-up on the page:

${publicUrl}/verify-email#${token}

Then sign in with the password that you chose.

If you did not sign up, do nothing. Without this link there is no account.
`,
  }
}

/** For an address that has an account: its owner learns of the sign-up here, and a stranger learns of the account nowhere. */
export function alreadySignedUpMail(publicUrl: string, to: Recipient): Mail {
  return {
    recipient: to.email,
    subject: 'You already have a Bridgework account',
    text: `Hello ${to.name},

We received a sign-up for Bridgework with this e-mail address, which already has an account.
Nothing has changed. Sign in with the account that you have:

${publicUrl}/sign-in

If you do not know the password, choose "Forgot your password?" on that page.
To join another company or practice, ask its owner for an invitation.

If you did not sign up, do nothing.
`,
  }
}

/** Tells the owner of an account what was done to it. */
export function noticeMail(to: Recipient, what: string, ip: string): Mail {
  return {
    recipient: to.email,
    subject: 'Your Bridgework account was changed',
    text: `Hello ${to.name},

${what}
The request came from the address ${ip}.

If this was not you, choose a new password at once and check the sessions of your account.
`,
  }
}

const secondFactorNeeded = `A second factor is required there: an authenticator app or a passkey.
You set it up after you sign in, and can do nothing else there before.`

/** For a member whose sessions an owner ended. */
export function sessionsEndedMail(
  publicUrl: string,
  to: Recipient,
  { tenantName, by, ended }: { tenantName: string; by: string; ended: number },
): Mail {
  return {
    recipient: to.email,
    subject: 'You were signed out of Bridgework',
    text: `Hello ${to.name},

${quoted(by)} of ${quoted(tenantName)} ended ${ended === 1 ? 'a session' : `${ended} sessions`} of your account.
You can sign in again:

${publicUrl}/sign-in

If you do not know why, ask ${quoted(by)}. Your account lists the sessions that are open.
`,
  }
}

/** For a member without a second factor, when an owner begins to require one. */
export function secondFactorMail(publicUrl: string, to: Recipient, tenantName: string): Mail {
  return {
    recipient: to.email,
    subject: `${quoted(tenantName)} requires a second factor on Bridgework`,
    text: `Hello ${to.name},

${quoted(tenantName)} requires a second factor of all its members from now on: an authenticator app or a passkey.
Your account has none. Set one up now:

${publicUrl}/account?tab=security

From your next sign-in on, you can do nothing else for ${quoted(tenantName)} before you have one.
`,
  }
}

/** Invites a member whom somebody else added. `link` holds the secret. */
export function invitationMail(
  link: string,
  to: Recipient,
  invitation: { tenantName: string; invitedBy: string; isSecondFactorRequired: boolean },
): Mail {
  return {
    recipient: to.email,
    subject: `You are invited to ${quoted(invitation.tenantName)} on Bridgework`,
    text: `Hello ${to.name},

${quoted(invitation.invitedBy)} invites you to ${quoted(invitation.tenantName)} on Bridgework.
Open this link within seven days to accept:

${link}
${invitation.isSecondFactorRequired ? `\n${secondFactorNeeded}\n` : ''}
If you did not expect this invitation, do nothing.
`,
  }
}
