import { Button, Group, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useSignInAct } from '../../api/query.ts'
import { refreshSession } from '../../api/session.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { Section } from '../../ui/Section.tsx'
import { NewPasswordInput } from '../sign-in/NewPasswordInput.tsx'
import { passwordAdvice } from '../sign-in/password.ts'

/** Another password. */
export function PasswordChange() {
  const change = useSignInAct('changePassword')
  const form = useForm({
    initialValues: { current_password: '', new_password: '' },
    validate: {
      current_password: (value) => (value === '' ? 'Enter the password that you have now.' : null),
      new_password: (value) => (passwordAdvice(value) === null ? null : 'Use 15 characters or more.'),
    },
  })
  return (
    <Section title="Password" description="Changing it ends all your other sign-ins.">
      <form
        noValidate
        onSubmit={form.onSubmit((body) =>
          change.mutate(body, {
            onSuccess: async () => {
              form.reset()
              // The session has begun anew, and its token with it.
              await refreshSession()
              notifications.show({ message: 'Your password is changed, and your other sign-ins have ended.' })
            },
          }),
        )}
      >
        <Stack maw={420}>
          <PasswordInput
            label="Password now"
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
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
              Change the password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
