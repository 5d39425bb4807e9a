import type { OperatorPersonPage } from '@bridgework/contract/portal'
import { Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../api/query.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'

/** Resets the second factor of a person who lost it: with a reason, and the address typed, so that it is the right person. */
export function ResetSecondFactor({
  person,
  opened,
  onClose,
}: {
  person: OperatorPersonPage
  opened: boolean
  onClose: () => void
}) {
  const reset = useAct('resetSecondFactor')
  const isEmailNew = person.means.some(({ means }) => means === 'undo_link')
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Reset the second factor of ${person.name}?`}
      typed={person.email}
      reason="required"
      confirm="Reset second factor"
      onConfirm={async (reason) => {
        await reset.mutateAsync({ params: { user_id: person.id }, body: { ...(reason && { reason }) } })
        notifications.show({ message: `The second factor of ${person.name} was reset. A link was mailed.` })
      }}
    >
      <Stack gap="xs">
        <Text size="sm">
          Do this only when you know that {person.name} asks for it: call back at a number that you had before.
        </Text>
        {isEmailNew && (
          <Text size="sm" fw={700}>
            The e-mail address of this account was changed within the last 7 days. The link goes to the new address. Ask
            the owner of the company or practice first.
          </Text>
        )}
        <Text size="sm">
          The authenticator app, recovery codes and passkeys are removed. The password and all sessions end.{' '}
          {person.email} gets a link for a new password. Identity providers do not change.
        </Text>
      </Stack>
    </ConfirmDialog>
  )
}
