import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { passkeysQuery } from './api/passkeys.ts'
import { read } from './api/query.ts'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { language, languageOfPage } from './language/language.ts'
import { accountSearch } from './pages/account/account-tab.ts'
import { companyRoutes } from './routes/company.tsx'
import { operatorRoutes } from './routes/operator.tsx'
import { organizationRoutes } from './routes/organization.tsx'
import { lazy, load, orSignIn, root, signedIn } from './routes/signed-in.tsx'
import { reference, signedOutRoutes } from './routes/signed-out.tsx'
import { ErrorPage } from './shell/ErrorPage.tsx'
import { homeOf } from './shell/menu.ts'
import { NotFoundPage } from './shell/NotFoundPage.tsx'
import { PendingPage } from './shell/PendingPage.tsx'
import { plainSearch } from './shell/plain-search.ts'

// The home page and the account. The pages before a sign-in and those of each side have files of their own in routes.

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

const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  validateSearch: accountSearch,
  loader: () => load(read('listSessions'), read('listAccountEvents'), read('listNoticeSettings'), passkeysQuery),
  component: lazy(() => import('./pages/account/AccountPage.tsx'), 'AccountPage'),
})

const vendorLink = createRoute({
  getParentRoute: () => signedIn,
  path: '/vendors/$company_id',
  component: lazy(() => import('./pages/account/VendorLinkPage.tsx'), 'VendorLinkPage'),
})

const routeTree = root.addChildren([
  signedOutRoutes,
  reference,
  signedIn.addChildren([home, account, vendorLink, companyRoutes, organizationRoutes, operatorRoutes]),
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

// A page in another language is loaded anew: a text does not change while it is shown.
router.subscribe('onBeforeNavigate', ({ toLocation: { pathname, href } }) => {
  if (languageOfPage(pathname) !== language) location.assign(href)
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
