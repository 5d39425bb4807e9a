import { Button, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { ErrorNote } from '../../ui/ErrorNote.tsx'

export type InvitableRole = 'admin' | 'member'
export type Invited = { email: string; name: string; role?: InvitableRole }

/** Asks whom to invite and as what. `roles` says what each role may do; null: there is no choice. */
export function InviteDialog({
  opened,
  onClose,
  title,
  roles,
  onInvite,
}: {
  opened: boolean
  onClose: () => void
  title: string
  roles: Record<InvitableRole, string> | null
  onInvite: (invited: Invited) => Promise<unknown>
}) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      {/* Mounted anew each time, so that it opens empty. */}
      <InviteForm onClose={onClose} roles={roles} onInvite={onInvite} />
    </Modal>
  )
}

function InviteForm({
  onClose,
  roles,
  onInvite,
}: {
  onClose: () => void
  roles: Record<InvitableRole, string> | null
  onInvite: (invited: Invited) => Promise<unknown>
}) {
  const form = useForm<Invited>({
    initialValues: { email: '', name: '', ...(roles && { role: 'member' }) },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      email: (email) =>
        /^\S+@\S+\.\S+$/.test(email.trim()) ? null : 'Enter an e-mail address, as in ana@example.com.',
    },
  })
  const invite = useMutation({
    mutationFn: onInvite,
    onSuccess: (_answer, { email }) => {
      notifications.show({ message: `Invitation sent to ${email}.` })
      onClose()
    },
  })
  return (
    <form
      onSubmit={form.onSubmit(({ email, name, ...role }) =>
        invite.mutate({ email: email.trim(), name: name.trim(), ...role }),
      )}
    >
      <Stack>
        <TextInput label="Name" maxLength={200} autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <TextInput label="E-mail" type="email" maxLength={254} autoComplete="off" {...form.getInputProps('email')} />
        {roles && (
          <Radio.Group label="Role" {...form.getInputProps('role')}>
            <Stack gap="xs" mt="xs">
              <Radio value="member" label="Member" description={roles.member} />
              <Radio value="admin" label="Admin" description={roles.admin} />
            </Stack>
          </Radio.Group>
        )}
        <Text size="sm" c="dimmed">
          They get an e-mail with a link that works once, within seven days. The list shows when they have accepted.
        </Text>
        <ErrorNote error={invite.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending}>
            Send invitation
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
