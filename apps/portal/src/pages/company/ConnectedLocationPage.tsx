import { Card, Stack, Text } from '@mantine/core'
import { IconBell, IconListSearch } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { datasetTitle } from '../organization/access/dataset-title.ts'
import { RequestTable } from './logs/RequestTable.tsx'

const route = getRouteApi('/signed-in/company/$company_id/connections/$location_id')

/** One location of a practice: what the company may read there, how current it is, the last requests, and the notices about the practice. */
export function ConnectedLocationPage() {
  const { company_id, location_id } = route.useParams()
  const params = { company_id, location_id }
  const connected = useSuspenseQuery(read('getConnectedLocation', { params }, { everyMs: 60_000 })).data
  const { organization_id, organization_name, purpose, ends_at, location, requests, notices } = connected
  const place = [location.city, location.state].filter(Boolean).join(', ')
  return (
    <>
      <PageHeader
        title={location.name}
        description={`${organization_name}${place && ` · ${place}`} · location id ${location.id} · organization id ${organization_id}`}
      />
      <Stack>
        <Section
          title="Granted data"
          description={
            location.has_attribution_script ? 'The website of the practice has the attribution script.' : undefined
          }
        >
          {(purpose || ends_at) && (
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {purpose && `Purpose: ${purpose}. `}
              {ends_at && (
                <>
                  The access ends <When at={ends_at} />.
                </>
              )}
            </Text>
          )}
          <DataTable
            caption="Granted data"
            rows={location.datasets}
            rowKey={({ dataset }) => dataset}
            columns={[
              { header: 'Dataset', cell: ({ dataset }) => datasetTitle(dataset) },
              { header: 'State', cell: ({ state }) => <StateBadge state={state} /> },
              { header: 'Synced', cell: ({ synced_at }) => <When at={synced_at} /> },
              { header: 'Granted', cell: ({ granted_at }) => <When at={granted_at} /> },
            ]}
          />
        </Section>
        <Section
          title="Last requests"
          actions={
            <PageLink to="/company/$company_id/logs" params={{ company_id }} search={{ location_id }} size="sm">
              View all in the logs
            </PageLink>
          }
        >
          {requests.length === 0 ? (
            <EmptyState icon={IconListSearch} title="No requests in the last 30 days">
              A request for this location is listed here within a minute.
            </EmptyState>
          ) : (
            <RequestTable requests={requests} />
          )}
        </Section>
        <Section
          title="Your notices about this practice"
          actions={
            <PageLink to="/company/$company_id/notices" params={{ company_id }} size="sm">
              View all notices
            </PageLink>
          }
        >
          {notices.length === 0 ? (
            <EmptyState icon={IconBell} title="No notices">
              Changes of your access are listed here for 90 days.
            </EmptyState>
          ) : (
            notices.map(({ id, title, body, created_at }) => (
              <Card key={id} withBorder padding="sm">
                <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
                  {title}
                </Text>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {body}
                </Text>
                <Text size="xs" c="dimmed">
                  <When at={created_at} />
                </Text>
              </Card>
            ))
          )}
        </Section>
      </Stack>
    </>
  )
}
