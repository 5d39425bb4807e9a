import { Button, Loader } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call, callSignIn } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageLink } from '../../ui/links.tsx'
import { takeLinkToken } from './link-token.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

/** Completes a sign-up with the link that was mailed. By a button, because a scanner of mails opens pages too: a stranger may have typed the address. */
export function VerifyEmailPage() {
  const token = takeLinkToken()
  const navigate = useNavigate()
  const signUp = useQuery({
    queryKey: ['findSignUp', token],
    queryFn: () => call('findSignUp', { body: { token } }),
    enabled: token !== '',
    retry: false,
  })
  const confirm = useMutation({
    mutationFn: () => callSignIn('verifyEmail', { token }),
    onSuccess: () => navigate({ to: '/sign-in', search: { notice: 'verified' }, replace: true }),
    gcTime: 0,
  })
  if (token !== '' && signUp.isPending) {
    return (
      <SignedOutPage title={t('Confirm your sign-up')}>
        <Loader size="sm" aria-label={t('Loading')} />
      </SignedOutPage>
    )
  }
  if (!signUp.data) {
    return (
      <SignedOutPage
        title={t('This link is not valid')}
        description={t(
          'It was already used, is older than a day, or is incomplete. If you have confirmed your address, sign in. Otherwise sign up again.',
        )}
      >
        <ErrorNote error={signUp.error} />
        <PageLink to="/sign-in">{t('Go to the sign-in page')}</PageLink>
        <PageLink to="/sign-up">{t('Sign up')}</PageLink>
      </SignedOutPage>
    )
  }
  const { side, tenant_name, name, email } = signUp.data
  return (
    <SignedOutPage
      title={t('Confirm your sign-up')}
      description={t(
        '{name} signed up with {email}, as the owner of the {side, select, company {company} other {practice}} “{tenant_name}”. If that was not you, close this page: nothing is created.',
        { name, email, side, tenant_name },
      )}
    >
      <ErrorNote error={confirm.error} />
      <Button onClick={() => confirm.mutate()} loading={confirm.isPending}>
        {t('Confirm sign-up')}
      </Button>
    </SignedOutPage>
  )
}
