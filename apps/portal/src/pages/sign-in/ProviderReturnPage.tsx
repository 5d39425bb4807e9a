import { Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { callSignIn } from '../../api/call.ts'
import { beginSession } from '../../api/session.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { ButtonLink, PageLink } from '../../ui/links.tsx'
import { safeNext } from './next.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

const route = getRouteApi('/signed-out/sign-in/callback/$tenant_id')

/** Where an identity provider sends people back to: posts what it sent, and goes on. */
export function ProviderReturnPage() {
  const { tenant_id } = route.useParams()
  const navigate = useNavigate()
  // A query, for it is to be sent once, however often the page is drawn.
  const finish = useQuery({
    queryKey: ['finishIdentitySignIn', tenant_id],
    queryFn: async () => {
      const query = location.search.slice(1)
      // What the provider sent is of use once, and stays in no history.
      history.replaceState(history.state, '', location.pathname)
      const answer = await callSignIn('finishIdentitySignIn', { tenant_id, query })
      if (answer.tested === null) {
        await beginSession()
        await navigate({ href: safeNext(answer.next, location.origin), replace: true })
      }
      return answer
    },
    retry: false,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (finish.error) {
    return (
      <SignedOutPage title={t('You are not signed in')}>
        <ErrorNote error={finish.error} />
        <PageLink to="/sign-in">{t('Go to the sign-in page')}</PageLink>
      </SignedOutPage>
    )
  }
  if (!finish.data?.tested) {
    return (
      <SignedOutPage title={t('Signing in')}>
        <Loader size="sm" aria-label={t('Signing in')} />
      </SignedOutPage>
    )
  }
  const { subject, email, is_fresh } = finish.data.tested
  return (
    <SignedOutPage
      title={t('The test succeeded')}
      description={t('You signed in at the identity provider. Nothing was linked.')}
    >
      <Stack gap={4}>
        <Text size="sm">{t('It names you <b>{subject}</b>.', { b: (text) => <b>{text}</b>, subject })}</Text>
        <Text size="sm">
          {email === null
            ? t('It gives no e-mail address, which is fine.')
            : t('It says that your e-mail address is {email}.', { email })}
        </Text>
        {!is_fresh && (
          <Text size="sm">
            {t(
              'It does not say that you have just signed in there. Members who sign in through it cannot invite members, generate keys or do anything else that needs a recent sign-in. Have your IT make it send <b>auth_time</b> in the ID token.',
              { b: (text) => <b>{text}</b> },
            )}
          </Text>
        )}
      </Stack>
      <ButtonLink to={safeNext(finish.data.next, location.origin)}>{t('Back to the settings')}</ButtonLink>
    </SignedOutPage>
  )
}
