import type { GivenRole } from '@bridgework/contract/portal'
import { Button, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { useDraftForm, useForget } from '../../ui/state/draft.ts'

export type Invited = { email: string; name: string; role: GivenRole }
/** The roles that may be chosen, the least first, and what each may do. */
export type Roles = Partial<Record<GivenRole, string>>

/** Asks whom to invite and as what. */
export function InviteDialog({
  tenantId,
  opened,
  onClose,
  title,
  roles,
  onInvite,
}: {
  tenantId: string
  opened: boolean
  onClose: () => void
  title: string
  roles: Roles
  onInvite: (invited: Invited) => Promise<unknown>
}) {
  const forget = useForget(`invite ${tenantId}`)
  const close = () => {
    forget()
    onClose()
  }
  return (
    <Modal opened={opened} onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      {/* Mounted anew each time, so that it opens empty, or with what the end of a session cut off. */}
      <InviteForm tenantId={tenantId} onClose={close} roles={roles} onInvite={onInvite} />
    </Modal>
  )
}

function InviteForm({
  tenantId,
  onClose,
  roles,
  onInvite,
}: {
  tenantId: string
  onClose: () => void
  roles: Roles
  onInvite: (invited: Invited) => Promise<unknown>
}) {
  const { form } = useDraftForm<Invited>(`invite ${tenantId}`, {
    mode: 'controlled',
    initialValues: { email: '', name: '', role: (Object.keys(roles) as GivenRole[])[0] ?? 'admin' },
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
      noValidate
      onSubmit={form.onSubmit(({ email, name, role }) =>
        invite.mutate({ email: email.trim(), name: name.trim(), role }),
      )}
    >
      <Stack>
        <TextInput label="Name" maxLength={200} autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <TextInput label="E-mail" type="email" maxLength={254} autoComplete="off" {...form.getInputProps('email')} />
        <Radio.Group label="Role" {...form.getInputProps('role')}>
          <Stack gap="xs" mt="xs">
            {Object.entries(roles).map(([role, description]) => (
              <Radio key={role} value={role} label={capital(role)} description={description} />
            ))}
          </Stack>
        </Radio.Group>
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

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
