import { Card, Group, Select, Stack, Text } from '@mantine/core'
import { IconBuilding } from '@tabler/icons-react'
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
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { When } from '../../../ui/When.tsx'
import { CompanyActions } from './CompanyActions.tsx'
import { CreateTenant } from './CreateTenant.tsx'
import { companyQuery, companyStates } from './company-search.ts'

const route = getRouteApi('/signed-in/operator/companies')

/** Every company, with the actions that create, suspend, resume and close one. */
export function CompaniesPage() {
  const search = route.useSearch()
  const [, change] = useUrlState<typeof search>()
  const { data: list } = useSuspenseQuery(read('listOperatorCompanies', { query: companyQuery(search) }))
  return (
    <>
      <PageHeader
        title="Companies"
        description="The software companies that practices can grant access to."
        actions={<CreateTenant kind="company" />}
      />
      <Stack>
        <Group gap="sm">
          <SearchField label="Search companies" placeholder="Name, owner’s e-mail, domain or id" />
          <Select
            aria-label="State"
            placeholder="Any state"
            data={companyStates.map((state) => ({ value: state, label: capital(state) }))}
            value={search.state ?? null}
            onChange={(state) => change({ state, page: undefined })}
            clearable
            clearButtonProps={{ 'aria-label': 'Any state' }}
            w={{ base: '100%', xs: 160 }}
          />
          <Select
            aria-label="Verification"
            placeholder="Verified or not"
            data={[
              { value: 'no', label: 'Not verified' },
              { value: 'yes', label: 'Verified' },
            ]}
            value={search.verified ?? null}
            onChange={(verified) => change({ verified, page: undefined })}
            clearable
            clearButtonProps={{ 'aria-label': 'Verified or not' }}
            w={{ base: '100%', xs: 180 }}
          />
        </Group>
        <Card withBorder padding="md">
          {list.total === 0 ? (
            <EmptyState
              icon={IconBuilding}
              title={search.search || search.state || search.verified ? 'No company matches' : 'No company yet'}
            >
              {search.search || search.state || search.verified
                ? 'Try another name or state.'
                : 'Create a company. Its owner is invited by e-mail.'}
            </EmptyState>
          ) : (
            <DataTable
              caption="Companies"
              rows={list.data}
              rowKey={({ id }) => id}
              columns={[
                {
                  header: 'Company',
                  sortBy: 'name',
                  cell: ({ id, name, owner_email, second_factor_required }) => (
                    <>
                      <PageLink size="sm" fw={500} to="/operator/companies/$company_id" params={{ company_id: id }}>
                        {name}
                      </PageLink>
                      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                        {owner_email}
                      </Text>
                      {second_factor_required && (
                        <Text size="sm" c="dimmed">
                          Second factor required
                        </Text>
                      )}
                    </>
                  ),
                },
                { header: 'State', sortBy: 'state', cell: ({ state }) => <StateBadge state={state} /> },
                {
                  header: 'Identity',
                  sortBy: 'verified',
                  cell: ({ verified_at }) => <StateBadge state={verified_at ? 'verified' : 'not_verified'} />,
                },
                {
                  header: 'Agreement',
                  cell: ({ agreement_in_force }) => (
                    <StateBadge state={agreement_in_force ? 'in_force' : 'not_accepted'} />
                  ),
                },
                { header: 'Keys', cell: ({ has_live_key_pair }) => (has_live_key_pair ? 'live' : 'none') },
                { header: 'Practices', align: 'right', cell: ({ organizations }) => formatCount(organizations) },
                {
                  header: 'Last request',
                  cell: ({ last_request_at }) => <When at={last_request_at} never="none in 30 days" />,
                },
                { header: 'Created', sortBy: 'created', cell: ({ created_at }) => <When at={created_at} /> },
                {
                  header: 'Actions',
                  isHidden: true,
                  align: 'right',
                  cell: (company) => <CompanyActions company={company} />,
                },
              ]}
            />
          )}
        </Card>
        <Pages list={list} />
      </Stack>
    </>
  )
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
