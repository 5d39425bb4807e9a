import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { operatorRoutes } from './routes/operator.tsx'
import { organizationRoutes } from './routes/organization.tsx'
import { lazy, orSignIn, root, signedIn } from './routes/signed-in.tsx'
import { ErrorPage } from './shell/ErrorPage.tsx'
import { NotFoundPage } from './shell/NotFoundPage.tsx'
import { PendingPage } from './shell/PendingPage.tsx'
import { homeOf } from './shell/places.ts'
import { plainSearch } from './shell/plain-search.ts'

// Without a sign-in. Nothing of the signed-in pages is loaded here.

const signedOut = createRoute({
  getParentRoute: () => root,
  id: 'signed-out',
  component: lazy(() => import('./shell/SignedOutShell.tsx'), 'SignedOutShell'),
})

const signIn = createRoute({
  getParentRoute: () => signedOut,
  path: '/sign-in',
  validateSearch: (search): { next?: string } => (typeof search.next === 'string' ? { next: search.next } : {}),
  component: lazy(() => import('./pages/sign-in/SignInPage.tsx'), 'SignInPage'),
})

// Signed in: the start, the account. The company side, the practice side and the operator side have files of their own in routes.

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  loader: ({ location }) =>
    orSignIn(location.href, async () => {
      const { memberships } = await queryClient.ensureQueryData(sessionQuery)
      const [only] = memberships
      if (only && memberships.length === 1) throw redirect({ to: homeOf(only) })
    }),
  component: lazy(() => import('./pages/account/HomePage.tsx'), 'HomePage'),
})

const routeTree = root.addChildren([
  signedOut.addChildren([signIn]),
  signedIn.addChildren([home, organizationRoutes, operatorRoutes]),
])

export const router = createRouter({
  routeTree,
  ...plainSearch,
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
