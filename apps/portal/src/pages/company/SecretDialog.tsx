import type { NewKeyPair } from '@bridgework/contract/portal'
import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { CopyButton, CopyField } from '../../ui/Copy.tsx'

/** A new pair with its secret, this once. Stays until the person says that it is stored: nothing brings it back. */
export function SecretDialog({ pair, onStored }: { pair: NewKeyPair | null; onStored: () => void }) {
  return (
    <Modal
      opened={pair !== null}
      onClose={onStored}
      title="Your new key pair"
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      // A dialog that fades out would show the secret for as long.
      transitionProps={{ duration: 0 }}
    >
      {pair && <Shown pair={pair} onStored={onStored} />}
    </Modal>
  )
}

function Shown({ pair, onStored }: { pair: NewKeyPair; onStored: () => void }) {
  const [isStored, setIsStored] = useState(false)
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])
  return (
    <Stack>
      <Alert variant="light" color="orange">
        <Text size="sm" c="bright">
          The secret is shown only now. We keep a hash of it, so nobody can show it again: store it where your software
          keeps its secrets.
        </Text>
      </Alert>
      <CopyField label="Client id" value={pair.client_id} />
      <CopyField label="Client secret" value={pair.client_secret} />
      <Group>
        <CopyButton
          value={`BRIDGEWORK_CLIENT_ID=${pair.client_id}\nBRIDGEWORK_CLIENT_SECRET=${pair.client_secret}\n`}
          what="both as environment variables"
          label="Copy both as environment variables"
        />
      </Group>
      <Checkbox
        label="I have stored it"
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
