import type { DatasetCopy } from '@bridgework/contract/portal'
import { Alert, Breadcrumbs, Card, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../../api/query.ts'
import { AgentProblems, ReadingNow } from '../../../ui/AgentProblems.tsx'
import { DataTable } from '../../../ui/DataTable.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { When } from '../../../ui/When.tsx'
import { Timeline } from '../Timeline.tsx'
import { LocationAgent } from './LocationAgent.tsx'
import { LocationTimeZone } from './LocationTimeZone.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/locations/$location_id')

const advice = {
  current: null,
  pending:
    'The first sync has not finished. Vendors can read the records that have arrived. You do not need to do anything.',
  stale:
    'The agent is connected, but a dataset was not read completely within the last 15 minutes of your office hours. If this continues, read the agent’s log on its machine.',
  disconnected: 'No agent is connected for this location. Check that its machine is on and can reach the internet.',
  not_provided: 'Your practice management system, or its export, provides none of the datasets.',
}

/** One location: when each dataset was read, and how much of it there is. */
export function LocationPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data: location } = useSuspenseQuery(
    read('getLocation', { params, query: { range: search.range } }, { everyMs: 15_000 }),
  )
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
        <AgentProblems problems={location.problems} />
        {note && (
          <Alert color={location.state === 'pending' ? 'blue' : 'orange'} icon={<IconAlertTriangle aria-hidden />}>
            <Text size="sm" c="bright">
              {note}
            </Text>
            {location.reading && <ReadingNow reading={location.reading} />}
          </Alert>
        )}
        {location.reading && location.state !== 'pending' && <ReadingNow reading={location.reading} />}
        <Section
          title="Reads by the agent"
          description="Oldest on the left, now on the right, in your time zone. Updates automatically."
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
        <Section
          title="Datasets"
          description="What vendors with access can read. Not provided: your system, or its export, does not have the dataset. Never has: it does not have these attributes, so vendors get them empty."
        >
          <DataTable
            caption="Datasets of this location"
            rows={location.datasets}
            rowKey={({ dataset }) => dataset}
            columns={[
              { header: 'Dataset', cell: (copy) => <DatasetTitle copy={copy} /> },
              { header: 'State', cell: (copy) => <CopyState copy={copy} params={params} /> },
              {
                header: 'Last read',
                cell: ({ state, synced_at }) => (
                  <When at={synced_at} never={state === 'not_provided' ? '–' : 'never'} />
                ),
              },
              {
                header: 'First sync finished',
                cell: ({ state, initial_sync_completed_at }) => (
                  <When at={initial_sync_completed_at} never={state === 'not_provided' ? '–' : 'not yet'} />
                ),
              },
              { header: 'Records', align: 'right', cell: ({ visible }) => formatCount(visible) },
              {
                header: 'Removed',
                align: 'right',
                cell: ({ total, visible }) => formatCount(total - visible),
              },
            ]}
          />
        </Section>
        <LocationAgent location={location} params={params} />
        <LocationTimeZone location={location} params={params} />
        <Card withBorder>
          <Text size="sm" c="dimmed">
            Read from{' '}
            {[location.practice_management_system.name, location.practice_management_system.version]
              .filter(Boolean)
              .join(' ') || 'an unknown system'}
            , where its key is <b>{location.source_id}</b>. Its id in the vendor API is <b>{location.id}</b>.
          </Text>
        </Card>
      </Stack>
    </>
  )
}

function DatasetTitle({ copy: { title, state, attributes_not_provided: lacking } }: { copy: DatasetCopy }) {
  return (
    <>
      <Text size="sm">{title}</Text>
      {state !== 'not_provided' && lacking.length > 0 && (
        <Text size="xs" c="dimmed">
          Never has {lacking.join(', ').replaceAll('_', ' ')}
        </Text>
      )}
    </>
  )
}

function CopyState({ copy, params }: { copy: DatasetCopy; params: { organization_id: string; location_id: string } }) {
  if (copy.removal === null && copy.problem === null) return <StateBadge state={copy.state} />
  return (
    <Stack gap={4} align="flex-start">
      <StateBadge state={copy.state} />
      {copy.problem !== null && (
        <Text size="xs" c="dimmed">
          {copy.problem}
        </Text>
      )}
      {copy.removal !== null && (
        <PageLink
          size="sm"
          to="/organization/$organization_id/removals/$location_id/$dataset"
          params={{ ...params, dataset: copy.dataset }}
        >
          {copy.removal === 'held' ? 'Review removal' : 'Records are being hidden'}
        </PageLink>
      )}
    </Stack>
  )
}
