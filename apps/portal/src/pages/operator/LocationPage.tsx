import { Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { formatCount } from '../../ui/format/locale.ts'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { ActivityPlots } from './ActivityPlots.tsx'
import { RangeControl } from './RangeControl.tsx'

const route = getRouteApi('/signed-in/operator/locations/$location_id')

/** One location: how current its datasets are, and what happens there. */
export function LocationPage() {
  const params = route.useParams()
  const { range } = route.useSearch()
  const { data } = useSuspenseQuery(read('getOperatorLocation', { params, query: { range } }, { everyMs: 60_000 }))
  const { practice_management_system: system, agent } = data
  return (
    <>
      <PageHeader
        title={data.name}
        description="A location of a practice. This page updates automatically."
        actions={<RangeControl ranges={['24h', '7d', '30d']} />}
      />
      <Stack>
        <Section title="Location">
          <Facts
            facts={{
              State: <StateBadge state={data.is_active ? data.state : 'closed'} />,
              Organization: (
                <PageLink
                  size="sm"
                  to="/operator/organizations/$organization_id"
                  params={{ organization_id: data.organization_id }}
                >
                  {data.organization_name}
                </PageLink>
              ),
              Agent: agent ? (
                <PageLink size="sm" to="/operator/agents/$agent_id" params={{ agent_id: agent.id }}>
                  {agent.name}
                </PageLink>
              ) : (
                'none yet'
              ),
              System: [system.name, system.version].filter(Boolean).join(' ') || 'unknown',
              'Time zone': data.time_zone ?? 'not set',
              Id: data.id,
            }}
          />
        </Section>
        <ActivityPlots activity={data.activity} />
        <Section title="Datasets">
          <DataTable
            caption="Datasets"
            rows={data.datasets}
            rowKey={({ dataset }) => dataset}
            columns={[
              { header: 'Dataset', sortBy: 'dataset', sortValue: ({ title }) => title, cell: ({ title }) => title },
              {
                header: 'State',
                sortBy: 'state',
                sortValue: ({ state }) => state,
                cell: ({ state }) => <StateBadge state={state} />,
              },
              {
                header: 'Read',
                sortBy: 'read',
                sortValue: ({ synced_at }) => synced_at,
                cell: ({ synced_at }) => <When at={synced_at} never="not yet" />,
              },
              {
                header: 'Records',
                align: 'right',
                sortBy: 'records',
                sortValue: ({ records }) => records,
                cell: ({ records }) => formatCount(records),
              },
            ]}
          />
        </Section>
      </Stack>
    </>
  )
}
