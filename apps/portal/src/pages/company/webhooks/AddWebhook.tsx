import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAct } from '../../../api/query.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { useDraft, useForget } from '../../../ui/state/draft.ts'
import { useCompanyParams } from '../company.ts'
import { TypesField } from './TypesField.tsx'
import type { NewSecret } from './WebhookSecret.tsx'
import { allTypes } from './webhook-types.ts'

/** Asks for the address and the types of a new webhook. */
export function AddWebhook({
  opened,
  onClose,
  onAdded,
}: {
  opened: boolean
  onClose: () => void
  onAdded: (secret: NewSecret) => void
}) {
  const forget = useForget(draftOf(useCompanyParams()))
  const close = () => {
    forget()
    onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Add webhook"
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ exitDuration: 0 }}
    >
      {opened && <Form onClose={close} onAdded={onAdded} />}
    </Modal>
  )
}

function Form({ onClose, onAdded }: { onClose: () => void; onAdded: (secret: NewSecret) => void }) {
  const params = useCompanyParams()
  const add = useAct('addWebhook')
  const [draft, setDraft] = useDraft<string>(draftOf(params))
  const url = draft ?? ''
  const [types, setTypes] = useState(allTypes)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate(
          { params, body: { url, types } },
          {
            onSuccess: ({ secret }) => {
              onClose()
              onAdded({ url, secret, replaced: false })
            },
          },
        )
      }}
    >
      <Stack>
        <TextInput
          label="Address"
          description="An https address that the internet can reach"
          placeholder="https://example.com/hook"
          value={url}
          onChange={(event) => setDraft(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <TypesField value={types} onChange={setTypes} />
        <ErrorNote error={add.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending} disabled={url.trim() === '' || types.length === 0}>
            Add webhook
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function draftOf({ company_id }: { company_id: string }): string {
  return `webhook of ${company_id}`
}
