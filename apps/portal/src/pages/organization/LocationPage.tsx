import type { DatasetCopy } from '@bridgework/contract/portal'
import { Alert, Breadcrumbs, Card, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { Timeline } from './Timeline.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/locations/$location_id')

const advice = {
  current: null,
  pending: 'The first sync has not finished. Vendors get what is there already; nothing needs to be done.',
  stale:
    'The agent reports, but a dataset was not read to the end within the last 15 minutes of your office hours. If it stays so, look at the agent’s log on the office’s machine.',
  disconnected:
    'No agent reports for this location. Look whether the machine on which it runs is on and reaches the internet.',
}

/** One location: when each dataset was read, and how much of it there is. */
export function LocationPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: location } = useSuspenseQuery(read('getLocation', { params, query: search }, { everyMs: 15_000 }))
  const note = advice[location.state]
  return (
    <>
      <Breadcrumbs mb="xs">
        <PageLink size="sm" to="/organization/$organization_id/locations" params={params}>
          Locations
        </PageLink>
        <Text size="sm">{location.name}</Text>
      </Breadcrumbs>
      <PageHeader
        title={location.name}
        description={[location.address, location.time_zone].filter(Boolean).join(' · ')}
        actions={<StateBadge state={location.state} />}
      />
      <Stack>
        {note && (
          <Alert color={location.state === 'pending' ? 'blue' : 'orange'} icon={<IconAlertTriangle aria-hidden />}>
            <Text size="sm" c="bright">
              {note}
            </Text>
          </Alert>
        )}
        <Section
          title="When it was read"
          description="The oldest on the left, now on the right, in your own time zone. Follows by itself."
          actions={
            <SegmentedControl
              aria-label="Range"
              value={location.range}
              onChange={(range) => navigate({ search: { range }, replace: true, resetScroll: false })}
              data={[
                { value: '24h', label: '24 hours' },
                { value: '7d', label: '7 days' },
              ]}
            />
          }
        >
          <Timeline location={location} />
        </Section>
        <Section title="Datasets" description="What vendors get when you let them in.">
          <DataTable
            caption="Datasets of this location"
            rows={location.datasets}
            rowKey={({ dataset }) => dataset}
            columns={[
              { header: 'Dataset', cell: ({ title }) => <Text size="sm">{title}</Text> },
              { header: 'State', cell: (copy) => <CopyState copy={copy} params={params} /> },
              { header: 'Last read', cell: ({ synced_at }) => <When at={synced_at} /> },
              {
                header: 'First sync finished',
                cell: ({ initial_sync_completed_at }) => <When at={initial_sync_completed_at} never="not yet" />,
              },
              { header: 'Records', align: 'right', cell: ({ visible }) => visible.toLocaleString() },
              {
                header: 'Removed since',
                align: 'right',
                cell: ({ total, visible }) => (total - visible).toLocaleString(),
              },
            ]}
          />
        </Section>
        <Card withBorder>
          <Text size="sm" c="dimmed">
            Read from{' '}
            {[location.practice_management_system.name, location.practice_management_system.version]
              .filter(Boolean)
              .join(' ') || 'an unknown system'}
            , where its key is <b>{location.source_id}</b>. Vendors know it as <b>{location.id}</b>.
          </Text>
        </Card>
      </Stack>
    </>
  )
}

function CopyState({ copy, params }: { copy: DatasetCopy; params: { organization_id: string; location_id: string } }) {
  if (!copy.removal_held) return <StateBadge state={copy.state} />
  return (
    <Stack gap={4} align="flex-start">
      <StateBadge state={copy.state} />
      <PageLink
        size="sm"
        to="/organization/$organization_id/removals/$location_id/$dataset"
        params={{ ...params, dataset: copy.dataset }}
      >
        A removal waits for you
      </PageLink>
    </Stack>
  )
}
