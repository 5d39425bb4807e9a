import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconPlus } from '@tabler/icons-react'
import { useAct } from '../../../api/query.ts'
import { useNeedsReason } from '../../../api/session.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { ReasonInput } from '../../../ui/ReasonInput.tsx'
import { useDraftForm, useForget } from '../../../ui/state/draft.ts'

/** The button and the form that make a company or an organization, and invite its owner. */
export function CreateTenant({ kind }: { kind: 'company' | 'organization' }) {
  const [isOpen, { open, close: hide }] = useDisclosure()
  const forget = useForget(`create ${kind}`)
  const close = () => {
    forget()
    hide()
  }
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
        {kind === 'company' ? 'Create company' : 'Create practice'}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={kind === 'company' ? 'Create company' : 'Create practice'}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <CreateForm kind={kind} onClose={close} />
      </Modal>
    </>
  )
}

function CreateForm({ kind, onClose }: { kind: 'company' | 'organization'; onClose: () => void }) {
  const needsReason = useNeedsReason()
  const create = useAct(kind === 'company' ? 'createOperatorCompany' : 'createOperatorOrganization')
  const { form } = useDraftForm(`create ${kind}`, {
    mode: 'controlled',
    initialValues: { name: '', ownerName: '', ownerEmail: '', reason: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      ownerName: (name) => (name.trim() === '' ? 'Enter the owner’s name.' : null),
      ownerEmail: (email) => (/^\S+@\S+\.\S+$/.test(email.trim()) ? null : 'Enter the owner’s e-mail address.'),
      reason: (reason) => (needsReason && reason.trim() === '' ? 'Enter a reason.' : null),
    },
  })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ name, ownerName, ownerEmail, reason }) =>
        create.mutate(
          {
            body: {
              name: name.trim(),
              owner: { name: ownerName.trim(), email: ownerEmail.trim() },
              ...(reason.trim() && { reason: reason.trim() }),
            },
          },
          {
            onSuccess: () => {
              notifications.show({ message: `${name} is created, and ${ownerEmail} is invited.` })
              onClose()
            },
          },
        ),
      )}
    >
      <Stack>
        <TextInput
          label={kind === 'company' ? 'Name of the company' : 'Name of the practice'}
          maxLength={200}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <TextInput label="Owner’s name" maxLength={200} autoComplete="off" {...form.getInputProps('ownerName')} />
        <TextInput
          label="Owner’s e-mail"
          type="email"
          maxLength={254}
          autoComplete="off"
          {...form.getInputProps('ownerEmail')}
        />
        <ReasonInput required={needsReason} {...form.getInputProps('reason')} />
        <Text size="sm" c="dimmed">
          The owner gets an invitation by e-mail.
        </Text>
        <ErrorNote error={create.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
