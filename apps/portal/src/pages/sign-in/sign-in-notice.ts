/** What the sign-in page says of how one came there. */
export const notices = {
  idle: 'You were signed out after 15 minutes without activity. What you had typed into forms is kept in this tab: sign in and go on.',
  lifetime: 'Nobody stays signed in for more than 12 hours. What you had typed into forms is kept in this tab.',
  verified: 'Your e-mail address is confirmed. Sign in with the password that you chose.',
  reset: 'Your new password is set, and every earlier sign-in has ended. Sign in with it.',
  joined: 'Your account is ready. Sign in with the password that you chose.',
} as const

export type Notice = keyof typeof notices

/** What the sign-in page's address may hold. */
export type SignInSearch = { next?: string; notice?: Notice }

export function signInSearch(search: Record<string, unknown>): SignInSearch {
  const { next, notice } = search
  return {
    ...(typeof next === 'string' && { next }),
    ...(typeof notice === 'string' && Object.hasOwn(notices, notice) && { notice: notice as Notice }),
  }
}
