import { Card, Stack, Text } from '@mantine/core'
import { IconBuildingHospital } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../../api/query.ts'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { SearchField } from '../../../ui/filters/SearchField.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Pages } from '../../../ui/Pages.tsx'
import { sortedQuery } from '../../../ui/state/url-state.ts'
import { When } from '../../../ui/When.tsx'
import { CreateTenant } from './CreateTenant.tsx'

const route = getRouteApi('/signed-in/operator/organizations')

/** Every organization, with its locations and the last contact of its agents. */
export function OrganizationsPage() {
  const search = route.useSearch()
  const { data: list } = useSuspenseQuery(
    read('listOperatorOrganizations', { query: sortedQuery('organizations', search) }),
  )
  return (
    <>
      <PageHeader
        title="Practices"
        description="The practices whose data is stored here. Only their own members decide who may read it."
        actions={<CreateTenant kind="organization" />}
      />
      <Stack>
        <SearchField label="Search practices" placeholder="Name or owner’s e-mail" />
        <Card withBorder padding="md">
          {list.total === 0 ? (
            <EmptyState
              icon={IconBuildingHospital}
              title={search.search ? `No practice matches “${search.search}”` : 'No practice yet'}
            >
              {search.search ? 'Try another name.' : 'Create a practice. Its owner is invited by e-mail.'}
            </EmptyState>
          ) : (
            <DataTable
              caption="Practices"
              rows={list.data}
              rowKey={({ id }) => id}
              columns={[
                {
                  header: 'Practice',
                  sortBy: 'name',
                  cell: ({ id, name, owner_email }) => (
                    <>
                      <PageLink
                        size="sm"
                        fw={500}
                        to="/operator/organizations/$organization_id"
                        params={{ organization_id: id }}
                      >
                        {name}
                      </PageLink>
                      <Text size="sm" c="dimmed">
                        {owner_email ?? 'no owner yet'}
                      </Text>
                    </>
                  ),
                },
                { header: 'Id', sortBy: 'id', cell: ({ id }) => id },
                {
                  header: 'Locations',
                  sortBy: 'locations',
                  align: 'right',
                  cell: ({ locations }) => formatCount(locations),
                },
                { header: 'Agents', align: 'right', cell: ({ agents }) => formatCount(agents) },
                { header: 'Last agent contact', cell: ({ last_contact_at }) => <When at={last_contact_at} /> },
                {
                  header: 'Second factor',
                  sortBy: 'second_factor',
                  cell: ({ second_factor_required }) => (second_factor_required ? 'Required' : 'Optional'),
                },
                { header: 'Created', sortBy: 'created', cell: ({ created_at }) => <When at={created_at} /> },
              ]}
            />
          )}
        </Card>
        <Pages list={list} />
      </Stack>
    </>
  )
}
