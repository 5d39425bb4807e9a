import type { Connection, EndedAccess } from '@bridgework/contract/portal'
import { Group, Stack, Text } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { CopyField } from '../../ui/Copy.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { formatCount } from '../../ui/format/locale.ts'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pages } from '../../ui/Pages.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { type ListSearch, listQuery, useUrlState } from '../../ui/state/url-state.ts'
import { When } from '../../ui/When.tsx'
import { datasetTitle } from '../organization/access/dataset-title.ts'
import { AccessRequests } from './AccessRequests.tsx'
import { useCompany, useCompanyParams } from './company.ts'

/** The practices that granted the company access, and how current each dataset is. */
export function ConnectionsPage() {
  const params = useCompanyParams()
  const company = useCompany()
  const [search] = useUrlState<ListSearch>()
  const { data: ended } = useSuspenseQuery(read('listEndedAccess', { params })).data
  const requests = useSuspenseQuery(read('listAccessRequests', { params })).data
  const list = useSuspenseQuery(read('listConnections', { params, query: listQuery(search) })).data
  return (
    <>
      <PageHeader
        title="Connections"
        description="Practices that granted you access: the datasets that you may read at each location, and how current they are."
      />
      <Stack>
        {(list.total > 0 || search.search) && (
          <SearchField label="Search connections" placeholder="Practice, location or city" />
        )}
        {list.data.length === 0 && <NoConnections company={company} isSearch={search.search !== undefined} />}
        {list.data.map((connection) => (
          <PracticeSection key={connection.organization_id} connection={connection} />
        ))}
        <Pages list={{ ...list, data: list.data.flatMap(rowsOf) }} />
        <AccessRequests companyId={company.id} requests={requests.data} datasets={requests.datasets} />
        {ended.length > 0 && <EndedSection ended={ended} />}
      </Stack>
    </>
  )
}

function NoConnections({ company, isSearch }: { company: { id: string; name: string }; isSearch: boolean }) {
  if (isSearch) {
    return (
      <EmptyState icon={IconPlugConnected} title="No practice matches the search">
        Search for its name, or for the name or city of one of its locations.
      </EmptyState>
    )
  }
  return (
    <Section title="No practice has granted access yet">
      <Text size="sm">
        A practice grants access in the portal, under “Vendor access”. It searches for your company and chooses
        locations and datasets; it can revoke access at any time. Give the practice the name and the id of your company:
      </Text>
      <CopyField label="Name" value={company.name} />
      <CopyField label="Company id" value={company.id} />
    </Section>
  )
}

/** What counts as a row of the list: each location, and a practice that has none yet. */
function rowsOf({ organization_id, locations }: Connection): unknown[] {
  return locations.length === 0 ? [organization_id] : locations
}

function PracticeSection({ connection }: { connection: Connection }) {
  const params = useCompanyParams()
  const { organization_id, organization_name, locations_total: total, locations, purpose, ends_at } = connection
  return (
    <Section
      title={organization_name}
      description={`Organization id ${organization_id} · ${formatCount(total)} ${total === 1 ? 'location' : 'locations'}`}
    >
      {(purpose || ends_at) && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {purpose && `Purpose: ${purpose}. `}
          {ends_at && (
            <>
              The access ends <When at={ends_at} />. Ask the practice to extend it.
            </>
          )}
        </Text>
      )}
      <DataTable
        caption={`Locations of ${organization_name}`}
        rows={locations}
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Location',
            cell: ({ id, name, city, state, has_attribution_script }) => (
              <>
                <PageLink
                  to="/company/$company_id/connections/$location_id"
                  params={{ ...params, location_id: id }}
                  size="sm"
                  fw={500}
                >
                  {name}
                </PageLink>
                <Text size="xs" c="dimmed">
                  {[city, state].filter(Boolean).join(', ') || 'No address'} · id {id}
                </Text>
                {has_attribution_script && (
                  <Text size="xs" c="dimmed">
                    Attribution script installed
                  </Text>
                )}
              </>
            ),
          },
          { header: 'Datasets', cell: ({ datasets }) => <Datasets datasets={datasets} /> },
        ]}
      />
    </Section>
  )
}

/** What practices ended, so that a 403 that begins one day is understood. */
function EndedSection({ ended }: { ended: readonly EndedAccess[] }) {
  return (
    <Section
      title="Ended access"
      description="What practices granted and then ended. You can no longer read it; what to do with data that you have copied is in your agreement."
    >
      <DataTable
        caption="Ended access"
        rows={ended}
        rowKey={({ organization_id, ended_at }) => `${organization_id} ${ended_at}`}
        columns={[
          { header: 'Ended', cell: ({ ended_at }) => <When at={ended_at} /> },
          { header: 'Practice', cell: ({ organization_name }) => organization_name },
          {
            header: 'What',
            cell: ({ datasets }) =>
              datasets.map((each) => (
                <Text size="sm" key={`${each.dataset} ${each.notes_alone}`}>
                  {each.notes_alone ? 'Notes of ' : ''}
                  {datasetTitle(each.dataset)} at {placesOf(each)}
                </Text>
              )),
          },
        ]}
      />
    </Section>
  )
}

function placesOf({ locations, location_names: names }: EndedAccess['datasets'][number]): string {
  if (names === null) return 'all locations'
  const others = locations - names.length
  return others > 0 ? `${names.join(', ')} and ${others} more` : names.join(', ')
}

function Datasets({ datasets }: { datasets: Connection['locations'][number]['datasets'] }) {
  return (
    <Stack gap={6}>
      {datasets.map(({ dataset, state, synced_at, granted_at }) => (
        <Group key={dataset} gap="sm" justify="space-between" ta="left">
          <Text size="sm" flex="1 1 9rem">
            {datasetTitle(dataset)}
          </Text>
          <StateBadge state={state} />
          <Text size="xs" c="dimmed" flex="2 1 14rem">
            synced <When at={synced_at} /> · granted <When at={granted_at} />
          </Text>
        </Group>
      ))}
    </Stack>
  )
}
