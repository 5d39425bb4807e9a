import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { callSignIn } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageLink } from '../../ui/links.tsx'
import { takeLinkToken } from './link-token.ts'
import { NewPasswordInput } from './NewPasswordInput.tsx'
import { passwordAdvice } from './password.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

/** Sets a new password with the link from the mail. */
export function ResetPasswordPage() {
  const token = takeLinkToken()
  const navigate = useNavigate()
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (value) => (passwordAdvice(value) === null ? null : t('Use 15 characters or more.')) },
  })
  const reset = useMutation({
    mutationFn: ({ password }: { password: string }) => callSignIn('resetPassword', { token, new_password: password }),
    onSuccess: () => navigate({ to: '/sign-in', search: { notice: 'reset' } }),
    gcTime: 0,
  })
  if (token === '') {
    return (
      <SignedOutPage
        title={t('This link is incomplete')}
        description={t(
          'Open the link from the mail again, or request a new one. For your safety, reloading this page removes the link.',
        )}
      >
        <PageLink to="/forgot-password">{t('Request a new link')}</PageLink>
      </SignedOutPage>
    )
  }
  return (
    <SignedOutPage
      title={t('Choose a new password')}
      description={t('All your sessions end when you set the new password.')}
    >
      <form onSubmit={form.onSubmit((values) => reset.mutate(values))} noValidate>
        <Stack>
          <NewPasswordInput
            label={t('New password')}
            typed={form.values.password}
            {...form.getInputProps('password')}
          />
          <ErrorNote error={reset.error} />
          {reset.error && (
            <PageLink to="/forgot-password" size="sm">
              {t('Request a new link')}
            </PageLink>
          )}
          <Button type="submit" loading={reset.isPending}>
            {t('Set password')}
          </Button>
        </Stack>
      </form>
    </SignedOutPage>
  )
}
