import { Stack } from '@mantine/core'
import { IconDeviceDesktop } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../../api/query.ts'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { When } from '../../../ui/When.tsx'
import { ActivityPlots } from '../ActivityPlots.tsx'
import { LocationTable } from '../LocationTable.tsx'
import { RangeControl } from '../RangeControl.tsx'
import { ViewAsSupport } from './ViewAsSupport.tsx'

const route = getRouteApi('/signed-in/operator/organizations/$organization_id')

/** One practice: its locations and agents, and what happens there. */
export function OrganizationPage() {
  const params = route.useParams()
  const { range } = route.useSearch()
  const { data } = useSuspenseQuery(read('getOperatorOrganization', { params, query: { range } }, { everyMs: 60_000 }))
  return (
    <>
      <PageHeader
        title={data.name}
        description={`Organization ${data.id}, time zone ${data.time_zone ?? 'not set'}. This page updates automatically.`}
        actions={
          <>
            <RangeControl ranges={['24h', '7d', '30d']} />
            <ViewAsSupport side="organization" id={data.id} name={data.name} />
          </>
        }
      />
      <Stack>
        <ActivityPlots activity={data.activity} />
        <Section title="Locations">
          <LocationTable locations={data.locations} />
        </Section>
        <Section title="Agents">
          {data.agents.length === 0 ? (
            <EmptyState icon={IconDeviceDesktop} title="No agents yet" />
          ) : (
            <DataTable
              caption="Agents"
              rows={data.agents}
              rowKey={({ id }) => id}
              columns={[
                {
                  header: 'Agent',
                  sortBy: 'agent',
                  sortValue: ({ name }) => name,
                  cell: ({ id, name }) => (
                    <PageLink size="sm" to="/operator/agents/$agent_id" params={{ agent_id: id }}>
                      {name}
                    </PageLink>
                  ),
                },
                {
                  header: 'State',
                  sortBy: 'agent_state',
                  sortValue: ({ state }) => state,
                  cell: ({ state }) => <StateBadge state={state} />,
                },
                {
                  header: 'Last contact',
                  sortBy: 'last_contact',
                  sortValue: ({ last_contact_at }) => last_contact_at,
                  cell: ({ last_contact_at }) => <When at={last_contact_at} />,
                },
              ]}
            />
          )}
        </Section>
      </Stack>
    </>
  )
}
