import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { PortalError } from './api/call.ts'
import { passkeysQuery } from './api/passkeys.ts'
import { read } from './api/query.ts'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { accountSearch } from './pages/account/account-tab.ts'
import { snippetSearch } from './pages/company/snippets.ts'
import { usageSearch } from './pages/company/usage-search.ts'
import { signInSearch } from './pages/sign-in/sign-in-notice.ts'
import { ErrorPage } from './shell/ErrorPage.tsx'
import { NotFoundPage } from './shell/NotFoundPage.tsx'
import { PendingPage } from './shell/PendingPage.tsx'
import { homeOf } from './shell/places.ts'
import { plainSearch } from './shell/plain-search.ts'
import { type ListSearch, listQuery, listSearch } from './ui/url-state.ts'

/** A page's code, read when the page is opened. */
const lazy = lazyRouteComponent

/** A list: search and page stand in its address. */
const listed = { validateSearch: listSearch, loaderDeps: ({ search }: { search: ListSearch }) => search }

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
  validateSearch: signInSearch,
  component: lazy(() => import('./pages/sign-in/SignInPage.tsx'), 'SignInPage'),
})

const signUp = createRoute({
  getParentRoute: () => signedOut,
  path: '/sign-up',
  component: lazy(() => import('./pages/sign-in/SignUpPage.tsx'), 'SignUpPage'),
})

const forgotPassword = createRoute({
  getParentRoute: () => signedOut,
  path: '/forgot-password',
  component: lazy(() => import('./pages/sign-in/ForgotPasswordPage.tsx'), 'ForgotPasswordPage'),
})

const resetPassword = createRoute({
  getParentRoute: () => signedOut,
  path: '/reset-password',
  component: lazy(() => import('./pages/sign-in/ResetPasswordPage.tsx'), 'ResetPasswordPage'),
})

const verifyEmail = createRoute({
  getParentRoute: () => signedOut,
  path: '/verify-email',
  component: lazy(() => import('./pages/sign-in/VerifyEmailPage.tsx'), 'VerifyEmailPage'),
})

const invitation = createRoute({
  getParentRoute: () => signedOut,
  path: '/invitation',
  component: lazy(() => import('./pages/sign-in/InvitationPage.tsx'), 'InvitationPage'),
})

const mail = createRoute({
  getParentRoute: () => signedOut,
  path: '/mail',
  ...listed,
  loader: () => load(read('listSandboxMail')),
  component: lazy(() => import('./pages/sign-in/MailPage.tsx'), 'MailPage'),
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

const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  validateSearch: accountSearch,
  loader: () => load(read('listSessions'), read('listAccountEvents'), passkeysQuery),
  component: lazy(() => import('./pages/account/AccountPage.tsx'), 'AccountPage'),
})

// The company side.

const company = createRoute({ getParentRoute: () => signedIn, path: '/company/$company_id' })

const companyOverview = createRoute({
  getParentRoute: () => company,
  path: '/',
  loader: ({ params }) => load(read('getCompany', { params }), read('getUsage', { params, query: { range: '24h' } })),
  component: lazy(() => import('./pages/company/OverviewPage.tsx'), 'OverviewPage'),
})

const quickstart = createRoute({
  getParentRoute: () => company,
  path: '/quickstart',
  validateSearch: snippetSearch,
  loader: ({ params }) => load(read('getCompany', { params }), read('getEnvironment')),
  component: lazy(() => import('./pages/company/QuickstartPage.tsx'), 'QuickstartPage'),
})

const keys = createRoute({
  getParentRoute: () => company,
  path: '/keys',
  validateSearch: listSearch,
  loader: ({ params }) => load(read('getCompany', { params }), read('listKeyPairs', { params })),
  component: lazy(() => import('./pages/company/KeysPage.tsx'), 'KeysPage'),
})

const agreement = createRoute({
  getParentRoute: () => company,
  path: '/agreement',
  loader: ({ params }) => load(read('getCompany', { params }), read('getAgreement', { params })),
  component: lazy(() => import('./pages/company/AgreementPage.tsx'), 'AgreementPage'),
})

const connections = createRoute({
  getParentRoute: () => company,
  path: '/connections',
  ...listed,
  loader: ({ params, deps }) =>
    load(read('getCompany', { params }), read('listConnections', { params, query: listQuery(deps) })),
  component: lazy(() => import('./pages/company/ConnectionsPage.tsx'), 'ConnectionsPage'),
})

const usage = createRoute({
  getParentRoute: () => company,
  path: '/usage',
  validateSearch: usageSearch,
  loaderDeps: ({ search: { range } }) => ({ range }),
  loader: ({ params, deps: { range = '24h' } }) =>
    load(read('getUsage', { params, query: { range } }), read('listRecentRequests', { params })),
  component: lazy(() => import('./pages/company/UsagePage.tsx'), 'UsagePage'),
})

const companyMembers = createRoute({
  getParentRoute: () => company,
  path: '/members',
  validateSearch: listSearch,
  loader: ({ params }) => load(read('listCompanyMembers', { params })),
  component: lazy(() => import('./pages/company/CompanyMembersPage.tsx'), 'CompanyMembersPage'),
})

const companyHistory = createRoute({
  getParentRoute: () => company,
  path: '/history',
  ...listed,
  loader: ({ params, deps }) => load(read('listCompanyEvents', { params, query: listQuery(deps) })),
  component: lazy(() => import('./pages/company/CompanyHistoryPage.tsx'), 'CompanyHistoryPage'),
})

const companySettings = createRoute({
  getParentRoute: () => company,
  path: '/settings',
  loader: ({ params }) => load(read('getCompany', { params })),
  component: lazy(() => import('./pages/company/CompanySettingsPage.tsx'), 'CompanySettingsPage'),
})

// The practice side.

// The operator side.

const routeTree = root.addChildren([
  signedOut.addChildren([signIn, signUp, forgotPassword, resetPassword, verifyEmail, invitation, mail]),
  signedIn.addChildren([
    home,
    account,
    company.addChildren([
      companyOverview,
      quickstart,
      keys,
      agreement,
      connections,
      usage,
      companyMembers,
      companyHistory,
      companySettings,
    ]),
  ]),
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

/** Reads all that a page shows, side by side: a page waits for one round of requests. */
// biome-ignore lint/suspicious/noExplicitAny: each query has types of its own, and none of them is looked at here.
function load(...queries: any[]): Promise<unknown> {
  return Promise.all(queries.map((query) => queryClient.ensureQueryData(query)))
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
