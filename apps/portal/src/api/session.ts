import type { Action, Membership, Session, Side } from '@bridgework/contract/portal'
import { actions, mayDo } from '@bridgework/contract/portal'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { forgetDrafts } from '../ui/draft.ts'
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

/** What the person is at this place; undefined where they do not belong. */
export function useMembership(side: Side, id: string): Membership | undefined {
  return useSession().memberships.find((membership) => membership.side === side && membership.id === id)
}

/** Whether the person's role here may do it. The server decides; this spares people a button that would be refused. */
export function useMay(id: string): (action: Action) => boolean {
  const { memberships } = useSession()
  return (action) => {
    const found = memberships.find((membership) => membership.side === actions[action].side && membership.id === id)
    return found !== undefined && mayDo(found.role, action)
  }
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

/** In the storage that all tabs share: one that sees it change goes to the sign-in page too. */
export const signedOutKey = 'bridgework.signed-out-at'

/** By the person's choice: what they had typed goes too. */
export async function signOut(): Promise<void> {
  forgetDrafts()
  await endSession('/sign-in')
}

/** Ends the session and leaves every page of it; `to` is loaded anew, so nothing of it stays in memory. */
export async function endSession(to: string): Promise<void> {
  // Whoever cannot reach the server is signed out of this page all the same; the session ends by itself.
  await callSignIn('signOut', undefined).catch(() => {})
  localStorage.setItem(signedOutKey, String(Date.now()))
  queryClient.clear()
  location.assign(to)
}
