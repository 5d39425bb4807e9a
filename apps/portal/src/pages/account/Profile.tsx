import { Button, Group, Stack, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { Section } from '../../ui/Section.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'
import { EmailChange } from './EmailChange.tsx'

/** What others know the person by, and the address that they sign in with. */
export function Profile() {
  return (
    <Stack>
      <Name />
      <EmailChange />
    </Stack>
  )
}

function Name() {
  const { user } = useSession()
  const update = useAct('updateAccount')
  const { form, forget } = useDraftForm('account', {
    initialValues: { name: user.name },
    validate: { name: (name) => (name.trim() === '' ? 'Enter your name.' : null) },
  })
  return (
    <Section
      title="Name"
      description="Other members see your name, and the history shows it with each change that you make."
    >
      <form
        onSubmit={form.onSubmit(({ name }) =>
          update.mutate(
            { body: { name: name.trim() } },
            {
              onSuccess: () => {
                forget()
                notifications.show({ message: 'Name saved.' })
              },
            },
          ),
        )}
      >
        <Stack maw={420}>
          <TextInput
            label="Name"
            maxLength={200}
            autoComplete="name"
            key={form.key('name')}
            {...form.getInputProps('name')}
          />
          <ErrorNote error={update.error} />
          <Group>
            <Button type="submit" loading={update.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
