import { Alert, Button, Group, Stack, TextInput } from '@mantine/core'
import { useSignInAct } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { Section } from '../../ui/Section.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'

/** The address that the person signs in with, and the form that asks for another one. */
export function EmailChange() {
  const { user } = useSession()
  const request = useSignInAct('requestEmailChange')
  const { form, forget } = useDraftForm('account-email', {
    initialValues: { email: '' },
    validate: { email: (email) => (/^\S+@\S+\.\S+$/.test(email.trim()) ? null : 'Enter an e-mail address.') },
  })
  return (
    <Section title="E-mail address" description={`You sign in with ${user.email}.`}>
      <form
        noValidate
        onSubmit={form.onSubmit(({ email }) => request.mutate({ email: email.trim() }, { onSuccess: forget }))}
      >
        <Stack maw={420}>
          <TextInput
            label="New e-mail address"
            description="We send a link there. Your address changes when you open it, and your other sessions end."
            type="email"
            maxLength={254}
            autoComplete="email"
            key={form.key('email')}
            {...form.getInputProps('email')}
          />
          <ErrorNote error={request.error} />
          {request.isSuccess && (
            <Alert variant="light" role="status">
              We sent a mail to {request.variables.email}. Open its link within an hour. Until then, sign in with{' '}
              {user.email}.
            </Alert>
          )}
          <Group>
            <Button type="submit" loading={request.isPending}>
              Change e-mail address
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
