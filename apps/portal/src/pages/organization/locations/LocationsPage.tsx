import type { LocationEntry } from '@bridgework/contract/portal'
import { Card, Stack, Text } from '@mantine/core'
import { IconMapPin } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../../api/query.ts'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { SearchField } from '../../../ui/filters/SearchField.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { ButtonLink, PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Pages } from '../../../ui/Pages.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { listQuery } from '../../../ui/state/url-state.ts'
import { When } from '../../../ui/When.tsx'
import { oldestRead } from './oldest-read.ts'

const route = getRouteApi('/signed-in/organization/$organization_id/locations')

/** Every location of the practice, with how current the copy of its data is. */
export function LocationsPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const { data: list } = useSuspenseQuery(
    read('listLocations', { params, query: listQuery(search) }, { everyMs: 30_000 }),
  )
  return (
    <>
      <PageHeader
        title="Locations"
        description="The locations that your agents found in the practice management system, and how current our copy of their data is."
      />
      <Stack>
        <SearchField label="Search locations" />
        {list.total === 0 ? (
          <Card withBorder>
            <NoLocations organizationId={params.organization_id} search={search.search} />
          </Card>
        ) : (
          <Card withBorder padding="md">
            <DataTable
              caption="Locations"
              rows={list.data}
              rowKey={(location) => location.id}
              columns={[
                {
                  header: 'Location',
                  cell: (location) => <LocationName location={location} organizationId={params.organization_id} />,
                },
                { header: 'Data', cell: (location) => <StateBadge state={location.state} /> },
                { header: 'Agent', cell: ({ writer }) => <Writer writer={writer} /> },
                {
                  header: 'Last read',
                  cell: ({ datasets }) => <When at={oldestRead(datasets)} never="not all of it yet" />,
                },
                {
                  header: 'Records',
                  align: 'right',
                  cell: (location) => formatCount(sum(location.datasets.map(({ visible }) => visible))),
                },
                { header: 'System', cell: (location) => <System {...location.practice_management_system} /> },
              ]}
            />
          </Card>
        )}
        <Pages list={list} />
      </Stack>
    </>
  )
}

function LocationName({ location, organizationId }: { location: LocationEntry; organizationId: string }) {
  return (
    <>
      <PageLink
        to="/organization/$organization_id/locations/$location_id"
        params={{ organization_id: organizationId, location_id: location.id }}
        fw={500}
        size="sm"
      >
        {location.name}
      </PageLink>
      {!location.is_active && (
        <Text span size="sm" c="dimmed">
          {' '}
          {location.closed_at === null ? '(inactive)' : '(closed)'}
        </Text>
      )}
      {location.address && (
        <Text size="sm" c="dimmed">
          {location.address}
        </Text>
      )}
    </>
  )
}

function Writer({ writer }: Pick<LocationEntry, 'writer'>) {
  if (writer === null) return <When at={null} never="none yet" />
  return (
    <>
      <Text size="sm">{writer.is_revoked ? `${writer.name} (revoked)` : writer.name}</Text>
      <Text size="sm" c="dimmed">
        <When at={writer.last_contact_at} />
      </Text>
      {writer.refused && <StateBadge state="held" label="Two agents" />}
    </>
  )
}

function NoLocations({ organizationId, search }: { organizationId: string; search: string | undefined }) {
  if (search) {
    return (
      <EmptyState icon={IconMapPin} title={`No location matches “${search}”`}>
        Search by name, address or key in the practice management system.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={IconMapPin}
      title="No locations yet"
      action={
        <ButtonLink to="/organization/$organization_id/agents" params={{ organization_id: organizationId }}>
          Connect an agent
        </ButtonLink>
      }
    >
      Locations appear after an agent has read your practice management system for the first time.
    </EmptyState>
  )
}

function System({ name, version }: LocationEntry['practice_management_system']) {
  return name ? (
    <Text size="sm">{[name, version].filter(Boolean).join(' ')}</Text>
  ) : (
    <Text size="sm" c="dimmed">
      unknown
    </Text>
  )
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
