import type { Passkey } from '@bridgework/contract/portal'
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { browserSupportsWebAuthn, startRegistration, WebAuthnError } from '@simplewebauthn/browser'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { passkeysQuery } from '../../api/passkeys.ts'
import { useSignInAct } from '../../api/query.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { Section } from '../../ui/Section.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'
import { When } from '../../ui/When.tsx'

/** Passkeys: signing in by fingerprint, face or PIN of a device. */
export function Passkeys() {
  const passkeys = useSuspenseQuery(passkeysQuery).data.data
  const remove = useSignInAct('deletePasskey')
  const [isAdding, setIsAdding] = useState(false)
  const [asked, setAsked] = useState<Passkey | null>(null)
  const canAdd = browserSupportsWebAuthn()
  return (
    <Section
      title="Passkeys"
      description="Sign in with the fingerprint, face or PIN of your device instead of a password."
      actions={canAdd && <Button onClick={() => setIsAdding(true)}>Add a passkey</Button>}
    >
      {!canAdd && (
        <Text size="sm" c="dimmed">
          This browser does not support passkeys. Use another browser to add one.
        </Text>
      )}
      {passkeys.length === 0 ? (
        <EmptyState icon={IconFingerprint} title="No passkey yet">
          Add one on each device that you sign in with. Your password still works when you do not have a passkey at
          hand.
        </EmptyState>
      ) : (
        <DataTable
          caption="Passkeys"
          rows={passkeys}
          rowKey={({ id }) => id}
          columns={[
            { header: 'Name', cell: ({ name }) => name },
            { header: 'Added', cell: ({ created_at }) => <When at={created_at} /> },
            {
              header: 'Actions',
              isHidden: true,
              align: 'right',
              cell: (passkey) => (
                <Button
                  variant="default"
                  size="xs"
                  onClick={() => setAsked(passkey)}
                  aria-label={`Remove ${passkey.name}`}
                >
                  Remove
                </Button>
              ),
            },
          ]}
        />
      )}
      <Modal
        opened={isAdding}
        onClose={() => setIsAdding(false)}
        title="Add a passkey"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <AddPasskey onClose={() => setIsAdding(false)} />
      </Modal>
      <ConfirmDialog
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title={`Remove ${asked?.name ?? ''}?`}
        confirm="Remove"
        onConfirm={async () => asked && (await remove.mutateAsync({ id: asked.id }))}
      >
        You can no longer sign in with this passkey. Your device may still offer it: delete it there too.
      </ConfirmDialog>
    </Section>
  )
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const { form, forget } = useDraftForm('passkey', {
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name, for example “Work laptop”.' : null) },
  })
  const getOptions = useSignInAct('getPasskeyRegistration')
  const register = useSignInAct('registerPasskey')
  const add = useMutation({
    mutationFn: async ({ name }: { name: string }) => {
      const options = await getOptions.mutateAsync(undefined)
      const response = await startRegistration({
        // What better-auth makes for it.
        optionsJSON: options as Parameters<typeof startRegistration>[0]['optionsJSON'],
      })
      await register.mutateAsync({ name: name.trim(), response })
    },
    onSuccess: () => {
      forget()
      notifications.show({ message: 'Passkey added.' })
      onClose()
    },
  })
  const isCancelled = add.error instanceof WebAuthnError || add.error?.name === 'NotAllowedError'
  return (
    <form onSubmit={form.onSubmit((values) => add.mutate(values))}>
      <Stack>
        <TextInput
          label="Name"
          description="Helps you recognize the passkey in the list."
          maxLength={200}
          data-autofocus
          key={form.key('name')}
          {...form.getInputProps('name')}
        />
        {isCancelled ? (
          <Text size="sm" role="alert">
            {add.error?.name === 'InvalidStateError'
              ? 'This device already has a passkey for your account.'
              : 'The passkey was not added. Try again when you are ready.'}
          </Text>
        ) : (
          <ErrorNote error={add.error} />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Continue
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
