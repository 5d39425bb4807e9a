import { Button, Group, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useSignInAct } from '../../api/query.ts'
import { refreshSession } from '../../api/session.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { Section } from '../../ui/Section.tsx'
import { NewPasswordInput } from '../sign-in/NewPasswordInput.tsx'
import { passwordAdvice } from '../sign-in/password.ts'

/** The form that changes the password. */
export function PasswordChange() {
  const change = useSignInAct('changePassword')
  const form = useForm({
    initialValues: { current_password: '', new_password: '' },
    validate: {
      current_password: (value) => (value === '' ? 'Enter your current password.' : null),
      new_password: (value) => (passwordAdvice(value) === null ? null : 'Use 15 characters or more.'),
    },
  })
  return (
    <Section title="Password" description="Changing the password ends all your other sessions.">
      <form
        noValidate
        onSubmit={form.onSubmit((body) =>
          change.mutate(body, {
            onSuccess: async () => {
              form.reset()
              // The server replaced the session and its token.
              await refreshSession()
              notifications.show({ message: 'Password changed. Your other sessions have ended.' })
            },
          }),
        )}
      >
        <Stack maw={420}>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
            {...form.getInputProps('current_password')}
          />
          <NewPasswordInput
            label="New password"
            typed={form.values.new_password}
            {...form.getInputProps('new_password')}
          />
          <ErrorNote error={change.error} />
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
