import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { callSignIn } from '../../api/call.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageLink } from '../../ui/links.tsx'
import { CheckYourMail } from './CheckYourMail.tsx'
import { SignedOutPage } from './SignedOutPage.tsx'

/** The form that requests the link for a new password. */
export function ForgotPasswordPage() {
  const form = useForm({
    initialValues: { email: '' },
    validate: { email: (value) => (/^\S+@\S+$/.test(value.trim()) ? null : 'Enter your e-mail address.') },
  })
  const ask = useMutation({
    mutationFn: ({ email }: { email: string }) => callSignIn('requestPasswordReset', { email: email.trim() }),
  })
  const { email } = form.values
  if (ask.isSuccess) {
    return (
      <CheckYourMail email={email}>
        If <b>{email}</b> has an account, we sent a link to it. Open the link within an hour and choose a new password.
      </CheckYourMail>
    )
  }
  return (
    <SignedOutPage
      title="Forgot your password?"
      description="We send you a link to choose a new password. If you have a passkey, you can sign in with it instead."
    >
      <form onSubmit={form.onSubmit((values) => ask.mutate(values))} noValidate>
        <Stack>
          <TextInput
            label="E-mail address"
            type="email"
            autoComplete="username"
            maxLength={254}
            {...form.getInputProps('email')}
          />
          <ErrorNote error={ask.error} />
          <Button type="submit" loading={ask.isPending}>
            Send link
          </Button>
          <PageLink to="/sign-in" size="sm">
            Back to the sign-in page
          </PageLink>
        </Stack>
      </form>
    </SignedOutPage>
  )
}
