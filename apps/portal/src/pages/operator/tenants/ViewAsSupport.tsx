import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useAct } from '../../../api/query.ts'
import { refreshSession } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'

/** Opens the pages of a company or practice to the operator, with a reason, read-only and for an hour. */
export function ViewAsSupport({ side, id, name }: { side: 'company' | 'organization'; id: string; name: string }) {
  const [isAsking, { open, close }] = useDisclosure()
  const begin = useAct('beginSupportView')
  const navigate = useNavigate()
  return (
    <>
      <Button variant="default" onClick={open}>
        View as support…
      </Button>
      <ConfirmDialog
        opened={isAsking}
        onClose={close}
        title={`View the pages of ${name}?`}
        reason="required"
        confirm="View as support"
        color="indigo"
        onConfirm={async (reason) => {
          await begin.mutateAsync({ body: { tenant_id: id, ...(reason && { reason }) } })
          await refreshSession()
          await navigate({ to: `/${side}/${id}` as string })
        }}
      >
        You see the pages as its people do, without patients, disclosures and secrets, and can change nothing. It ends
        after 60 minutes. The act and your reason are in their history.
      </ConfirmDialog>
    </>
  )
}
