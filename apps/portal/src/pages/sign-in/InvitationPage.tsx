import type { Invitation } from '@bridgework/contract/portal'
import { Button, Divider, Loader, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import { goToProvider } from '../../api/identity-sign-in.ts'
import { endSession, refreshSession, sessionQuery } from '../../api/session.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { ButtonLink, PageLink } from '../../ui/links.tsx'
import { forgetLinkToken, takeLinkToken } from './link-token.ts'
import { NewPasswordInput } from './NewPasswordInput.tsx'
import { passwordAdvice } from './password.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

/** Joining a company or a practice by a link that was mailed. */
export function InvitationPage() {
  // An invitation cannot be mailed anew by the person who lost it, so a reload keeps it.
  const token = takeLinkToken({ isKept: true })
  const invitation = useQuery({
    queryKey: ['findInvitation', token],
    queryFn: () => call('findInvitation', { body: { token } }),
    enabled: token !== '',
    retry: false,
  })
  const session = useQuery({ ...sessionQuery, retry: false })
  if (token !== '' && (invitation.isPending || session.isPending)) {
    return (
      <SignedOutPage title={t('Your invitation')}>
        <Loader size="sm" aria-label={t('Loading')} />
      </SignedOutPage>
    )
  }
  if (!invitation.data) {
    return (
      <SignedOutPage
        title={t('This invitation is not valid')}
        description={t(
          'It was used, replaced by a newer one, or is too old. Open the link from the mail once more, or ask the person who invited you for a new one.',
        )}
      >
        <ErrorNote error={invitation.error} />
        <PageLink to="/sign-in">{t('To the sign-in')}</PageLink>
      </SignedOutPage>
    )
  }
  const { tenant_name, role, side, email, has_account, second_factor_required } = invitation.data
  const me = session.data?.user.email
  return (
    <SignedOutPage
      title={t('Join {name}', { name: side === 'operator' ? 'Bridgework' : tenant_name })}
      description={
        side === 'operator'
          ? t('You are invited to be one of the operators, as {email}.', { email })
          : t(
              'You are invited to be {role, select, owner {an owner} admin {an admin} other {a member}} of {tenant_name}, as {email}.',
              { role, tenant_name, email },
            )
      }
    >
      {second_factor_required && (
        <Text size="sm">
          {t('A second factor is required there: an authenticator app or a passkey. You set it up after you sign in.')}
        </Text>
      )}
      {!has_account && <NewAccount token={token} invitation={invitation.data} />}
      {has_account && me === email && <Accept token={token} />}
      {has_account && me !== email && (
        <Stack>
          <Text size="sm">
            {me === undefined
              ? t('{email} has an account already. Sign in with it, then accept.', { email })
              : t(
                  'You are signed in as {me}. Sign out, then open the link from the mail once more and sign in as {email}.',
                  { me, email },
                )}
          </Text>
          {me === undefined ? (
            <ButtonLink to="/sign-in" search={{ next: '/invitation' }}>
              {t('Sign in to accept')}
            </ButtonLink>
          ) : (
            <Button onClick={() => endSession('choice')}>{t('Sign out')}</Button>
          )}
        </Stack>
      )}
    </SignedOutPage>
  )
}

function Accept({ token }: { token: string }) {
  const navigate = useNavigate()
  const accept = useMutation({
    mutationFn: () => call('acceptInvitation', { body: { token } }),
    onSuccess: async ({ side, id }) => {
      forgetLinkToken()
      await refreshSession()
      await navigate({ href: side === 'operator' ? '/operator' : `/${side}/${id}` })
    },
  })
  return (
    <Stack>
      <ErrorNote error={accept.error} />
      <Button onClick={() => accept.mutate()} loading={accept.isPending}>
        {t('Accept')}
      </Button>
    </Stack>
  )
}

function NewAccount({ token, invitation }: { token: string; invitation: Invitation }) {
  const navigate = useNavigate()
  const form = useForm({
    initialValues: { name: invitation.name, password: '' },
    validate: {
      name: (value) => (value.trim() === '' ? t('Enter your name.') : null),
      password: (value) => (passwordAdvice(value) === null ? null : t('Use 15 characters or more.')),
    },
  })
  const accept = useMutation({
    mutationFn: (values: { name: string; password: string }) =>
      call('acceptInvitation', { body: { token, ...values } }),
    onSuccess: ({ side, id }) => {
      forgetLinkToken()
      return navigate({
        to: '/sign-in',
        search: { notice: 'joined', next: side === 'operator' ? '/operator' : `/${side}/${id}` },
      })
    },
    gcTime: 0,
  })
  const { identity_provider } = invitation
  const join = useMutation({
    mutationFn: (name: string) =>
      goToProvider({ sign_in_name: identity_provider?.sign_in_name ?? '', invitation: { token, name: name.trim() } }),
    gcTime: 0,
  })
  return (
    <form onSubmit={form.onSubmit((values) => accept.mutate(values))} noValidate>
      <Stack>
        {/* A password manager keeps the new password under it. */}
        <input type="hidden" name="username" autoComplete="username" value={invitation.email} readOnly />
        <TextInput label={t('Your name')} autoComplete="name" maxLength={200} {...form.getInputProps('name')} />
        <NewPasswordInput
          label={t('Choose a password')}
          typed={form.values.password}
          facts={[form.values.name, invitation.email, invitation.tenant_name]}
          {...form.getInputProps('password')}
        />
        <ErrorNote error={accept.error ?? join.error} />
        <Button type="submit" loading={accept.isPending}>
          {t('Create account and join')}
        </Button>
        {identity_provider && (
          <>
            <Divider label={t('or, without a password')} />
            <Button
              variant="default"
              loading={join.isPending}
              onClick={() => form.validateField('name').hasError || join.mutate(form.values.name)}
            >
              {t('Join with {name}', { name: identity_provider.name })}
            </Button>
          </>
        )}
      </Stack>
    </form>
  )
}
