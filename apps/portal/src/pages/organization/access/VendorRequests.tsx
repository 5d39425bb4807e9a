import type { AccessRequest, OrganizationPage } from '@bridgework/contract/portal'
import { Button, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { PageLink } from '../../../ui/links.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { When } from '../../../ui/When.tsx'
import { DeclineRequest } from './DeclineRequest.tsx'
import { datasetTitle } from './dataset-title.ts'
import { GrantRequest } from './GrantRequest.tsx'

/** What vendors asked the practice for, with the answers. Renders nothing where none asked. */
export function VendorRequests({
  organizationId,
  requests,
  datasets,
}: {
  organizationId: string
  requests: readonly AccessRequest[]
  datasets: OrganizationPage['datasets']
}) {
  const may = useMay(organizationId)
  const invite = useAct('inviteVendorRequest')
  const [granting, setGranting] = useState<AccessRequest | null>(null)
  const [declining, setDeclining] = useState<AccessRequest | null>(null)
  if (requests.length === 0) return null
  return (
    <Section title="Requests for access" description="A request gives no access. You decide what the vendor may read.">
      <Stack component="ul" gap="lg" p={0} m={0} style={{ listStyle: 'none' }}>
        {requests.map((request) => (
          <Stack component="li" gap={4} key={request.id}>
            <Group gap="xs">
              <PageLink
                fw={500}
                size="sm"
                to="/organization/$organization_id/vendors/$company_id"
                params={{ organization_id: organizationId, company_id: request.company_id }}
              >
                {request.company_name}
              </PageLink>
              <StateBadge state={request.state} />
              <Text size="xs" c="dimmed">
                asked <When at={request.asked_at} /> by {request.asked_by}
              </Text>
            </Group>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              <b>{request.datasets.map(datasetTitle).join(', ')}</b> at{' '}
              {request.locations === null ? 'all locations' : `these locations: ${request.locations}`}
            </Text>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              Purpose: {request.purpose}
            </Text>
            {request.message && (
              <Text size="sm" c="dimmed">
                Your answer: {request.message}
              </Text>
            )}
            {request.state === 'open' && may('access_request.grant') && (
              <Group gap="sm" mt={4}>
                <Button size="xs" onClick={() => setGranting(request)}>
                  Grant…
                </Button>
                <Button size="xs" variant="default" onClick={() => setDeclining(request)}>
                  Decline…
                </Button>
              </Group>
            )}
            {request.state === 'declined' && !request.invited_at && may('access_request.invite') && (
              <Group gap="sm" mt={4}>
                <Button
                  size="xs"
                  variant="default"
                  loading={invite.isPending}
                  onClick={() =>
                    invite.mutate(
                      { params: { organization_id: organizationId, request_id: request.id } },
                      {
                        onSuccess: () =>
                          notifications.show({ message: `${request.company_name} may ask for access again.` }),
                      },
                    )
                  }
                >
                  Let it ask again
                </Button>
                <Text size="xs" c="dimmed">
                  Otherwise it may ask again 30 days after your answer.
                </Text>
              </Group>
            )}
          </Stack>
        ))}
      </Stack>
      {granting && (
        <GrantRequest
          organizationId={organizationId}
          request={granting}
          datasets={datasets}
          onClose={() => setGranting(null)}
        />
      )}
      <DeclineRequest organizationId={organizationId} request={declining} onClose={() => setDeclining(null)} />
    </Section>
  )
}
