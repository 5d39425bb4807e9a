import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyField } from '../../../ui/Copy.tsx'

/** `replaced`: it takes the place of another, which signs too for a day. */
export type NewSecret = { url: string; secret: string; replaced: boolean }

/** The secret of a webhook, shown once. Stays open until the person says that it is stored. */
export function WebhookSecret({ shown, onStored }: { shown: NewSecret | null; onStored: () => void }) {
  return (
    <Modal
      opened={shown !== null}
      onClose={onStored}
      title="The webhook’s secret"
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      // A dialog that fades out would show the secret for as long.
      transitionProps={{ duration: 0 }}
    >
      {shown && <Shown shown={shown} onStored={onStored} />}
    </Modal>
  )
}

function Shown({ shown, onStored }: { shown: NewSecret; onStored: () => void }) {
  const [isStored, setIsStored] = useState(false)
  return (
    <Stack>
      <Alert variant="light" color="orange">
        <Text size="sm" c="bright">
          The secret is shown only now. Your server needs it to check that messages to {shown.url} come from Bridgework.
          {shown.replaced && ' Messages are signed with the secret before, too, for 24 hours.'}
        </Text>
      </Alert>
      <CopyField label="Secret" value={shown.secret} />
      <Checkbox
        label="I have stored the secret"
        checked={isStored}
        onChange={(event) => setIsStored(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!isStored} onClick={onStored}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
