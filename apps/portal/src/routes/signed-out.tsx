import { createRoute } from '@tanstack/react-router'
import { read } from '../api/query.ts'
import { openApiQuery } from '../pages/reference/openapi.ts'
import { referenceSearch } from '../pages/reference/reference-search.ts'
import { emailChangeSearch } from '../pages/sign-in/email-change-search.ts'
import { signInSearch } from '../pages/sign-in/sign-in-notice.ts'
import { lazy, listed, load, root } from './signed-in.tsx'

// Without a sign-in. Nothing of the signed-in pages is loaded here.

const signedOut = createRoute({
  getParentRoute: () => root,
  id: 'signed-out',
  component: lazy(() => import('../shell/SignedOutShell.tsx'), 'SignedOutShell'),
})

const signIn = createRoute({
  getParentRoute: () => signedOut,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazy(() => import('../pages/sign-in/SignInPage.tsx'), 'SignInPage'),
})

const providerReturn = createRoute({
  getParentRoute: () => signedOut,
  path: '/sign-in/callback/$tenant_id',
  component: lazy(() => import('../pages/sign-in/ProviderReturnPage.tsx'), 'ProviderReturnPage'),
})

const signUp = createRoute({
  getParentRoute: () => signedOut,
  path: '/sign-up',
  component: lazy(() => import('../pages/sign-in/SignUpPage.tsx'), 'SignUpPage'),
})

const forgotPassword = createRoute({
  getParentRoute: () => signedOut,
  path: '/forgot-password',
  component: lazy(() => import('../pages/sign-in/ForgotPasswordPage.tsx'), 'ForgotPasswordPage'),
})

const resetPassword = createRoute({
  getParentRoute: () => signedOut,
  path: '/reset-password',
  component: lazy(() => import('../pages/sign-in/ResetPasswordPage.tsx'), 'ResetPasswordPage'),
})

const verifyEmail = createRoute({
  getParentRoute: () => signedOut,
  path: '/verify-email',
  component: lazy(() => import('../pages/sign-in/VerifyEmailPage.tsx'), 'VerifyEmailPage'),
})

const emailChange = createRoute({
  getParentRoute: () => signedOut,
  path: '/email-change',
  validateSearch: emailChangeSearch,
  component: lazy(() => import('../pages/sign-in/EmailChangePage.tsx'), 'EmailChangePage'),
})

const invitation = createRoute({
  getParentRoute: () => signedOut,
  path: '/invitation',
  component: lazy(() => import('../pages/sign-in/InvitationPage.tsx'), 'InvitationPage'),
})

const mail = createRoute({
  getParentRoute: () => signedOut,
  path: '/mail',
  ...listed,
  loader: () => load(read('listSandboxMail')),
  component: lazy(() => import('../pages/sign-in/MailPage.tsx'), 'MailPage'),
})

const status = createRoute({
  getParentRoute: () => signedOut,
  path: '/status',
  loader: () => load(read('getStatus')),
  component: lazy(() => import('../pages/sign-in/StatusPage.tsx'), 'StatusPage'),
})

/** The API reference, with a frame of its own: vendors read it with and without an account. */
export const reference = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  validateSearch: referenceSearch,
  loader: () => load(openApiQuery, read('getReferenceToken')),
  component: lazy(() => import('../pages/reference/ReferencePage.tsx'), 'ReferencePage'),
})

/** The pages before a sign-in. */
export const signedOutRoutes = signedOut.addChildren([
  signIn,
  providerReturn,
  signUp,
  forgotPassword,
  resetPassword,
  verifyEmail,
  emailChange,
  invitation,
  mail,
  status,
])
