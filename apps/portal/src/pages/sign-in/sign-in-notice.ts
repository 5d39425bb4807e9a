import { message } from '../../language/t.ts'

/** Why the sign-in page was opened, as the page says it. */
export const notices = {
  idle: message(
    'You were signed out after 15 minutes without activity. What you typed into forms is kept in this tab. Sign in to continue.',
  ),
  lifetime: message(
    'You were signed out because a session lasts at most 12 hours. What you typed into forms is kept in this tab. Sign in to continue.',
  ),
  verified: message('Your e-mail address is confirmed. Sign in with the password that you chose.'),
  reset: message('Your new password is set, and all your earlier sessions have ended. Sign in with the new password.'),
  joined: message('Your account is ready. Sign in with the password that you chose.'),
} as const

export type Notice = keyof typeof notices

/** What the sign-in page's address may hold. */
/** `provider`: the sign-in name of an organization that gave out the link. */
export type SignInSearch = { next?: string; notice?: Notice; provider?: string }

export function signInSearch(search: Record<string, unknown>): SignInSearch {
  const { next, notice, provider } = search
  return {
    ...(typeof next === 'string' && { next }),
    ...(typeof provider === 'string' && { provider }),
    ...(typeof notice === 'string' && Object.hasOwn(notices, notice) && { notice: notice as Notice }),
  }
}
