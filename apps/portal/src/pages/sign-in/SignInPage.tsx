import { Alert, Text } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { beginSession } from '../../api/session.ts'
import { t } from '../../language/t.ts'
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
    <SignedOutPage title={t('Sign in')}>
      {notice && (
        <Alert variant="light" role="status">
          <Text size="sm" c="bright">
            {t(notices[notice])}
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
            {t('Forgot your password?')}
          </PageLink>
        }
      />
      <ProviderSignIn name={provider} next={next} />
      <Text size="sm" c="dimmed">
        {t('New here? <link>Sign up a software company or a practice</link>', {
          link: (text) => (
            <PageLink to="/sign-up" underline="always">
              {text}
            </PageLink>
          ),
        })}
      </Text>
    </SignedOutPage>
  )
}
