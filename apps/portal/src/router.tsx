import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { passkeysQuery } from './api/passkeys.ts'
import { read } from './api/query.ts'
import { queryClient } from './api/query-client.ts'
import { sessionQuery } from './api/session.ts'
import { accountSearch } from './pages/account/account-tab.ts'
import { signInSearch } from './pages/sign-in/sign-in-notice.ts'
import { companyRoutes } from './routes/company.tsx'
import { operatorRoutes } from './routes/operator.tsx'
import { organizationRoutes } from './routes/organization.tsx'
import { lazy, listed, load, orSignIn, root, signedIn } from './routes/signed-in.tsx'
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

// Signed in: the start and the account. The sides have files of their own in routes.

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
  loader: () => load(read('listSessions'), read('listAccountEvents'), passkeysQuery),
  component: lazy(() => import('./pages/account/AccountPage.tsx'), 'AccountPage'),
})

const routeTree = root.addChildren([
  signedOut.addChildren([signIn, signUp, forgotPassword, resetPassword, verifyEmail, invitation, mail]),
  signedIn.addChildren([home, account, companyRoutes, organizationRoutes, operatorRoutes]),
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
