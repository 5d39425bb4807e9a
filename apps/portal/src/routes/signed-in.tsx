import { createRootRoute, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { PortalError } from '../api/call.ts'
import { queryClient } from '../api/query-client.ts'
import { sessionQuery } from '../api/session.ts'
import { type ListSearch, listSearch } from '../ui/state/url-state.ts'

/** A page's code, read when the page is opened. */
export const lazy = lazyRouteComponent

/** A list: search and page stand in its address. */
export const listed = { validateSearch: listSearch, loaderDeps: ({ search }: { search: ListSearch }) => search }

export const root = createRootRoute({ component: Outlet })

/**
 * The frame of every page after a sign-in. The session is read by this loader and what a page shows by the page's own: loaders run side by
 * side, so a page waits for one round of requests.
 */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: lazy(() => import('../shell/Shell.tsx'), 'Shell'),
  loader: ({ location }) => orSignIn(location.href, () => queryClient.ensureQueryData(sessionQuery)),
})

/** Reads all that a page shows, side by side. */
// biome-ignore lint/suspicious/noExplicitAny: each query has types of its own, and none of them is looked at here.
export function load(...queries: any[]): Promise<unknown> {
  return Promise.all(queries.map((query) => queryClient.ensureQueryData(query)))
}

/** Sends a person without a session to the sign-in page, which leads back to this address. */
export async function orSignIn<T>(href: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof PortalError) || error.status !== 401) throw error
    throw redirect({ to: '/sign-in', search: href === '/' ? {} : { next: href } })
  }
}
