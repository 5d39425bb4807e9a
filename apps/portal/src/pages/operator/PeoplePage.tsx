import { Card, Stack, Text } from '@mantine/core'
import { IconUser } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pages } from '../../ui/Pages.tsx'
import { listQuery } from '../../ui/state/url-state.ts'
import { When } from '../../ui/When.tsx'
import { Memberships } from './tenants/Memberships.tsx'

const route = getRouteApi('/signed-in/operator/people')

/** Everybody who has an account, with what they act for. */
export function PeoplePage() {
  const search = route.useSearch()
  const { data: list } = useSuspenseQuery(read('listOperatorPeople', { query: listQuery(search) }))
  return (
    <>
      <PageHeader
        title="People"
        description="Everybody who has an account. To reset a lost second factor, open the person’s page."
      />
      <Stack>
        <SearchField label="Search people" placeholder="Name or e-mail" />
        <Card withBorder padding="md">
          {list.total === 0 ? (
            <EmptyState icon={IconUser} title={search.search ? `Nobody matches “${search.search}”` : 'Nobody yet'}>
              {search.search ? 'Try another name or address.' : 'People get an account when they accept an invitation.'}
            </EmptyState>
          ) : (
            <DataTable
              caption="People"
              rows={list.data}
              rowKey={({ id }) => id}
              columns={[
                {
                  header: 'Person',
                  cell: ({ id, name, email }) => (
                    <>
                      <PageLink size="sm" fw={500} to="/operator/people/$user_id" params={{ user_id: id }}>
                        {name}
                      </PageLink>
                      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                        {email}
                      </Text>
                    </>
                  ),
                },
                { header: 'Belongs to', cell: ({ memberships }) => <Memberships of={memberships} /> },
                { header: 'Second factor', cell: ({ has_second_factor }) => (has_second_factor ? 'Set up' : 'None') },
                { header: 'Account created', cell: ({ created_at }) => <When at={created_at} /> },
              ]}
            />
          )}
        </Card>
        <Pages list={list} />
      </Stack>
    </>
  )
}
