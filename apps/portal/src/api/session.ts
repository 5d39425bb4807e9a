import type { Action, Membership, Session } from '@bridgework/contract/portal'
import { mayDo, needsReason } from '@bridgework/contract/portal'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { chosenLanguage, keepLanguage } from '../language/language.ts'
import { forgetDrafts, restoreDrafts } from '../ui/state/draft-store.ts'
import { call, callSignIn, setCsrfToken } from './call.ts'
import { queryClient } from './query-client.ts'

/** Who is signed in. Throws a PortalError with 401 when nobody is. */
export const sessionQuery = queryOptions<Session>({
  queryKey: ['getSession'],
  queryFn: async ({ signal }) => {
    const session = await call('getSession', { signal })
    setCsrfToken(session.csrf_token)
    return session
  },
  staleTime: 60_000,
})

export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

/** What the person is for this tenant (a company's id, a practice's, or `operator`); undefined where they do not belong. */
export function useMembership(tenantId: string): Membership | undefined {
  return useSession().memberships.find(({ id }) => id === tenantId)
}

/** Whether the person's role here may do it. The server decides; this spares people a button that would be refused. */
export function useMay(tenantId: string): (action: Action) => boolean {
  const membership = useMembership(tenantId)
  return (action) => membership !== undefined && mayDo(membership.role, action, membership.side)
}

/** Whether the person, as an operator, gives a reason with every act. */
export function useNeedsReason(): boolean {
  const membership = useMembership('operator')
  return membership !== undefined && needsReason(membership.role)
}

/** Reads who is signed in now. */
export async function refreshSession(): Promise<Session> {
  await queryClient.cancelQueries({ queryKey: ['getSession'] })
  return await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
}

/** After a sign-in: forgets what was known of another person and reads who it is now. */
export async function beginSession(): Promise<Session> {
  queryClient.clear()
  return await refreshSession()
}

/** Why a session ended: by choice, for want of activity, or because nobody stays signed in longer. */
export type SessionEnd = 'choice' | 'idle' | 'lifetime'

/** In the storage that all tabs share: `<why> <when>`. A tab that sees it change leaves too. */
export const sessionEndKey = 'bridgework.session-end'

const colorSchemeKey = 'mantine-color-scheme-value'

/** Ends the session and leaves, in every tab. */
export async function endSession(why: SessionEnd): Promise<void> {
  const colorScheme = localStorage.getItem(colorSchemeKey)
  const language = chosenLanguage()
  // Without the server the page signs out all the same; the session expires.
  await callSignIn('signOut', undefined).catch(() => {})
  if (colorScheme !== null) localStorage.setItem(colorSchemeKey, colorScheme)
  keepLanguage(language)
  localStorage.setItem(sessionEndKey, `${why} ${Date.now()}`)
  leave(why)
}

/** Leaves the pages of a session that has ended. The next page is loaded anew, so nothing of this one stays in memory. What was typed stays unless one left by choice. */
export function leave(why: SessionEnd): void {
  queryClient.clear()
  if (why === 'choice') {
    forgetDrafts()
    location.assign('/sign-in')
    return
  }
  restoreDrafts()
  const next = location.pathname + location.search
  location.assign(`/sign-in?${new URLSearchParams({ notice: why, next })}`)
}
