import type { AccessRequest } from '@bridgework/contract/portal'
import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useAct } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { WhoMay } from '../../ui/WhoMay.tsx'
import { datasetTitle } from '../organization/access/dataset-title.ts'
import { RequestAccess } from './RequestAccess.tsx'

/** What the company asked practices for, and the way to ask. */
export function AccessRequests({
  companyId,
  requests,
  datasets,
}: {
  companyId: string
  requests: readonly AccessRequest[]
  datasets: readonly string[]
}) {
  const may = useMay(companyId)
  const withdraw = useAct('withdrawAccessRequest')
  const [isAsking, { open, close }] = useDisclosure()
  const [withdrawing, setWithdrawing] = useState<AccessRequest | null>(null)
  return (
    <Section
      title="Requests for access"
      description="Ask a practice for access with the id that it gives you. The practice decides."
      actions={
        may('access_request.make') && (
          <Button variant="default" onClick={open}>
            Ask for access
          </Button>
        )
      }
    >
      {!may('access_request.make') && <WhoMay action="access_request.make" what="ask for access" />}
      {requests.length === 0 ? (
        <Text size="sm" c="dimmed">
          No request yet.
        </Text>
      ) : (
        <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
          {requests.map((request) => (
            <Stack component="li" gap={4} key={request.id}>
              <Group gap="xs">
                <Text size="sm" fw={500}>
                  {request.organization_name}
                </Text>
                <StateBadge state={request.state} />
                <Text size="xs" c="dimmed">
                  asked <When at={request.asked_at} />
                  {request.ended_at && (
                    <>
                      {' '}
                      · answered <When at={request.ended_at} />
                    </>
                  )}
                </Text>
              </Group>
              <Text size="sm">
                {request.datasets.map(datasetTitle).join(', ')} at {request.locations ?? 'all locations'}
              </Text>
              {request.message && (
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  The practice says: {request.message}
                </Text>
              )}
              {request.state === 'declined' && (
                <Text size="xs" c="dimmed">
                  {request.invited_at
                    ? 'The practice lets you ask again.'
                    : 'You may ask again 30 days after the answer.'}
                </Text>
              )}
              {request.state === 'open' && may('access_request.withdraw') && (
                <Group>
                  <Button size="xs" variant="default" onClick={() => setWithdrawing(request)}>
                    Withdraw…
                  </Button>
                </Group>
              )}
            </Stack>
          ))}
        </Stack>
      )}
      <RequestAccess companyId={companyId} datasets={datasets} opened={isAsking} onClose={close} />
      <ConfirmDialog
        opened={withdrawing !== null}
        onClose={() => setWithdrawing(null)}
        title={withdrawing ? `Withdraw the request to ${withdrawing.organization_name}?` : ''}
        confirm="Withdraw request"
        onConfirm={async () => {
          if (!withdrawing) return
          await withdraw.mutateAsync({ params: { company_id: companyId, request_id: withdrawing.id } })
          notifications.show({ message: 'The request is withdrawn.' })
        }}
      >
        The practice no longer has to answer it. You can ask again.
      </ConfirmDialog>
    </Section>
  )
}
