import type { AccessRequest } from '@bridgework/contract/portal'
import { Stack, Text, Textarea } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../../api/query.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { useDraft } from '../../../ui/state/draft.ts'

/** Declines a vendor's request, with a message if the practice wants. */
export function DeclineRequest({
  organizationId,
  request,
  onClose,
}: {
  organizationId: string
  request: AccessRequest | null
  onClose: () => void
}) {
  const decline = useAct('declineVendorRequest')
  const [draft, setMessage] = useDraft<string>(`decline ${request?.id}`)
  const message = draft ?? ''
  return (
    <ConfirmDialog
      followsPage
      opened={request !== null}
      onClose={() => {
        setMessage(null)
        onClose()
      }}
      title={request ? `Decline the request of ${request.company_name}?` : ''}
      confirm="Decline request"
      onConfirm={async () => {
        if (!request) return
        const params = { organization_id: organizationId, request_id: request.id }
        await decline.mutateAsync({ params, body: message.trim() === '' ? {} : { message } })
        setMessage(null)
        notifications.show({ message: 'The request is declined.' })
      }}
    >
      <Stack gap="sm">
        <Text size="sm">What it may read now does not change. It may ask again in 30 days, or when you let it.</Text>
        <Textarea
          label="Message to the vendor (optional)"
          description="Do not write anything about a patient."
          maxLength={500}
          autosize
          minRows={2}
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
      </Stack>
    </ConfirmDialog>
  )
}
