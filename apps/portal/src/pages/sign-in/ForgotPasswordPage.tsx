import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { callSignIn } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageLink } from '../../ui/links.tsx'
import { CheckYourMail } from './CheckYourMail.tsx'
import { SignedOutPage } from './SignedOutPage.tsx'

/** The form that requests the link for a new password. */
export function ForgotPasswordPage() {
  const form = useForm({
    initialValues: { email: '' },
    validate: { email: (value) => (/^\S+@\S+$/.test(value.trim()) ? null : t('Enter your e-mail address.')) },
  })
  const ask = useMutation({
    mutationFn: ({ email }: { email: string }) => callSignIn('requestPasswordReset', { email: email.trim() }),
  })
  const { email } = form.values
  if (ask.isSuccess) {
    return (
      <CheckYourMail email={email}>
        {t(
          'If <b>{email}</b> has an account, we sent a link to it. Open the link within an hour and choose a new password.',
          { b: (text) => <b>{text}</b>, email },
        )}
      </CheckYourMail>
    )
  }
  return (
    <SignedOutPage
      title={t('Forgot your password?')}
      description={t(
        'We send you a link to choose a new password. If you have a passkey, you can sign in with it instead.',
      )}
    >
      <form onSubmit={form.onSubmit((values) => ask.mutate(values))} noValidate>
        <Stack>
          <TextInput
            label={t('E-mail address')}
            type="email"
            autoComplete="username"
            maxLength={254}
            {...form.getInputProps('email')}
          />
          <ErrorNote error={ask.error} />
          <Button type="submit" loading={ask.isPending}>
            {t('Send link')}
          </Button>
          <PageLink to="/sign-in" size="sm">
            {t('Back to the sign-in page')}
          </PageLink>
        </Stack>
      </form>
    </SignedOutPage>
  )
}
