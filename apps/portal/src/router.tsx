import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { PortalError } from './api/call.ts'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { ErrorPage } from './shell/ErrorPage.tsx'
import { NotFoundPage } from './shell/NotFoundPage.tsx'
import { PendingPage } from './shell/PendingPage.tsx'
import { homeOf } from './shell/places.ts'

const root = createRootRoute({ component: Outlet })

// Without a sign-in. Nothing of the signed-in pages is loaded here.

const signedOut = createRoute({
  getParentRoute: () => root,
  id: 'signed-out',
  component: lazyRouteComponent(() => import('./shell/SignedOutShell.tsx'), 'SignedOutShell'),
})

const signIn = createRoute({
  getParentRoute: () => signedOut,
  path: '/sign-in',
  validateSearch: (search): { next?: string } => (typeof search.next === 'string' ? { next: search.next } : {}),
  component: lazyRouteComponent(() => import('./pages/sign-in/SignInPage.tsx'), 'SignInPage'),
})

// Signed in. The session is read by the layout's loader and what a page shows by the page's own: loaders run side by side, so a page waits for
// one round of requests.

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: lazyRouteComponent(() => import('./shell/Shell.tsx'), 'Shell'),
  loader: ({ location }) => orSignIn(location.href, () => queryClient.ensureQueryData(sessionQuery)),
})

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  loader: ({ location }) =>
    orSignIn(location.href, async () => {
      const { memberships } = await queryClient.ensureQueryData(sessionQuery)
      const [only] = memberships
      if (only && memberships.length === 1) throw redirect({ to: homeOf(only) })
    }),
  component: lazyRouteComponent(() => import('./pages/account/HomePage.tsx'), 'HomePage'),
})

// The account.

// The company side.

// The practice side.

// The operator side.

const routeTree = root.addChildren([signedOut.addChildren([signIn]), signedIn.addChildren([home])])

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: ErrorPage,
  defaultNotFoundComponent: NotFoundPage,
  defaultPendingComponent: PendingPage,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** Whoever is not signed in is sent to sign in, and comes back to this address afterwards. */
async function orSignIn<T>(href: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof PortalError) || error.status !== 401) throw error
    throw redirect({ to: '/sign-in', search: href === '/' ? {} : { next: href } })
  }
}
