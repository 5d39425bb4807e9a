import type { Mail } from '../mail/queue.ts'

type Recipient = { email: string; name: string }

/** To the new address. Its link proves that the person receives mail there. */
export function confirmAddressMail(publicUrl: string, to: Recipient, token: string): Mail {
  return {
    recipient: to.email,
    subject: 'Confirm your new e-mail address for Bridgework',
    text: `Hello ${to.name},

We received a request to use this e-mail address for your Bridgework account.
Open this link within an hour to confirm the address:

${publicUrl}/email-change#${token}

Until then, sign in with your old address.

If you did not request this, do nothing. Without this link nothing changes.
`,
  }
}

/** To an address that another account has: its owner reads of the request here, and the person who asked does not. */
export function addressTakenMail(to: Recipient): Mail {
  return {
    recipient: to.email,
    subject: 'You already have a Bridgework account',
    text: `Hello ${to.name},

We received a request to use this e-mail address for another Bridgework account.
This address already has an account, so nothing has changed.

If you did not request this, do nothing.
`,
  }
}

/** To the old address. Its link restores it. */
export function emailChangedMail(publicUrl: string, to: Recipient, newEmail: string, token: string, ip: string): Mail {
  return {
    recipient: to.email,
    subject: 'The e-mail address of your Bridgework account was changed',
    text: `Hello ${to.name},

The e-mail address of your Bridgework account is now ${newEmail}.
It was confirmed from the address ${ip}. Sign in with the new address from now on.

If this was not you, open this link within 7 days:

${publicUrl}/email-change?undo=true#${token}

It restores this address. It ends all sessions and the password, and removes every authenticator app, passkey, recovery
code and link to an identity provider that was added in the 7 days before the change or since.
You choose a new password with the next mail.
`,
  }
}
