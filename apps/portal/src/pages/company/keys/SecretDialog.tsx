import type { NewKeyPair } from '@bridgework/contract/portal'
import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { CopyButton, CopyField } from '../../../ui/Copy.tsx'

/** A new key pair with its secret, shown once. Stays open until the person says that the secret is stored. */
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
          The secret is shown only now, because we store only a hash of it. Copy it to the place where your software
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
