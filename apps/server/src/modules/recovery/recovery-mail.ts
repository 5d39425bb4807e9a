import type { Mail } from '../mail/queue.ts'
import type { HeldMeans, MeansName } from './means.ts'

type Recipient = { email: string; name: string }

/** After an e-mail change was undone. */
export function emailRestoredMail(to: Recipient, removed: readonly HeldMeans[]): Mail {
  return {
    recipient: to.email,
    subject: 'The e-mail address of your Bridgework account was restored',
    text: `Hello ${to.name},

Your account has this e-mail address again.
${sentenceOf(removed)}

Choose a new password with the next mail. Then set up what you want to sign in with under Security in your account,
and check there what was done in your name.
`,
  }
}

/** After an operator reset the second factor. `token`: of a link for a new password. */
export function secondFactorResetMail(
  publicUrl: string,
  to: Recipient,
  { removed, providers, token }: { removed: readonly HeldMeans[]; providers: readonly string[]; token: string },
): Mail {
  return {
    recipient: to.email,
    subject: 'The second factor of your Bridgework account was reset',
    text: `Hello ${to.name},

The operator of Bridgework reset the second factor of your account, because it was reported as lost.
${sentenceOf(removed)}

Open this link within an hour and choose a new password:

${publicUrl}/reset-password#${token}

After that hour, choose "Forgot your password?" on the sign-in page.
Then set up a new second factor under Security in your account.
${providers.length === 0 ? '' : `\nYou can sign in through ${inWords(providers)} as before.\n`}
If you did not ask for this, tell the operator and the owner of your company or practice at once.
`,
  }
}

/** `the authenticator app`, `2 passkeys`, for a history; sessions and links end with every recovery and are no news there. */
export function listRemoved(removed: readonly HeldMeans[]): string[] {
  return (Object.keys(words) as MeansName[]).flatMap((name) => {
    const count = removed.filter(({ means }) => means === name).length
    const [one, many] = words[name] ?? []
    if (count === 0 || one === undefined) return []
    return [count === 1 || many === undefined ? one : `${count} ${many}`]
  })
}

const words: Readonly<Record<MeansName, readonly [one: string, many?: string] | null>> = {
  password: ['the password'],
  one_time_password: ['the authenticator app'],
  recovery_codes: ['the recovery codes'],
  passkey: ['a passkey', 'passkeys'],
  provider_identity: ['a link to an identity provider', 'links to identity providers'],
  session: null,
  link: null,
  undo_link: null,
}

function sentenceOf(removed: readonly HeldMeans[]): string {
  const what = inWords(listRemoved(removed))
  return `${what === '' ? '' : `Removed: ${what}. `}All sessions have ended.`
}

function inWords(parts: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(parts)
}
