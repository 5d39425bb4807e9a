import { Alert, Text } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { beginSession } from '../../api/session.ts'
import { PageLink } from '../../ui/links.tsx'
import { safeNext } from './next.ts'
import { ProviderSignIn } from './ProviderSignIn.tsx'
import { SignedOutPage } from './SignedOutPage.tsx'
import { SignInForm } from './SignInForm.tsx'
import { notices } from './sign-in-notice.ts'

const route = getRouteApi('/signed-out/sign-in')

/** Signing in. */
export function SignInPage() {
  const navigate = useNavigate()
  const { next, notice, provider } = route.useSearch()
  return (
    <SignedOutPage title="Sign in">
      {notice && (
        <Alert variant="light" role="status">
          <Text size="sm" c="bright">
            {notices[notice]}
          </Text>
        </Alert>
      )}
      <SignInForm
        onDone={async () => {
          await beginSession()
          await navigate({ href: safeNext(next, location.origin) })
        }}
        links={
          <PageLink to="/forgot-password" size="sm">
            Forgot your password?
          </PageLink>
        }
      />
      <ProviderSignIn name={provider} next={next} />
      <Text size="sm" c="dimmed">
        New here?{' '}
        <PageLink to="/sign-up" underline="always">
          Sign up a software company or a practice
        </PageLink>
      </Text>
    </SignedOutPage>
  )
}
