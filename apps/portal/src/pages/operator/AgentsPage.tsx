import { Card, Stack } from '@mantine/core'
import { IconDeviceDesktop } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { AgentState } from '../../ui/AgentState.tsx'
import { AgentVersion } from '../../ui/AgentVersion.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pages } from '../../ui/Pages.tsx'
import { sortedQuery } from '../../ui/state/url-state.ts'
import { When } from '../../ui/When.tsx'

const route = getRouteApi('/signed-in/operator/agents')

/** The health of every agent; updates automatically. */
export function AgentsPage() {
  const search = route.useSearch()
  const { data: list } = useSuspenseQuery(
    read('listOperatorAgents', { query: sortedQuery('agents', search) }, { everyMs: 10_000 }),
  )
  return (
    <>
      <PageHeader title="Agents" description="Connected means last contact within 3 minutes. Updates automatically." />
      <Stack>
        <SearchField label="Search agents" placeholder="Agent or practice" />
        <Card withBorder padding="md">
          {list.total === 0 ? (
            <EmptyState
              icon={IconDeviceDesktop}
              title={search.search ? `No agent matches “${search.search}”` : 'No agent yet'}
            >
              {search.search ? 'Try another name.' : 'Practices enroll their own agents.'}
            </EmptyState>
          ) : (
            <DataTable
              caption="Agents"
              rows={list.data}
              rowKey={({ id }) => id}
              columns={[
                {
                  header: 'Agent',
                  sortBy: 'name',
                  cell: ({ id, name }) => (
                    <PageLink size="sm" to="/operator/agents/$agent_id" params={{ agent_id: id }}>
                      {name}
                    </PageLink>
                  ),
                },
                {
                  header: 'Practice',
                  sortBy: 'organization',
                  cell: ({ organization_id, organization_name }) => (
                    <PageLink size="sm" to="/operator/organizations/$organization_id" params={{ organization_id }}>
                      {organization_name}
                    </PageLink>
                  ),
                },
                {
                  header: 'State',
                  cell: ({ state, problems, reading }) => (
                    <AgentState state={state} problems={problems} reading={reading} />
                  ),
                },
                {
                  header: 'Last contact',
                  sortBy: 'last_contact',
                  cell: ({ last_contact_at }) => <When at={last_contact_at} />,
                },
                { header: 'Version', sortBy: 'version', cell: ({ version }) => <AgentVersion version={version} /> },
                { header: 'Enrolled', sortBy: 'enrolled', cell: ({ enrolled_at }) => <When at={enrolled_at} /> },
              ]}
            />
          )}
        </Card>
        <Pages list={list} />
      </Stack>
    </>
  )
}
