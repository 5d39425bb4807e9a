import type { VendorEntry } from '@bridgework/contract/portal'
import { Card, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconShieldCheck } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../../api/query.ts'
import { CopyField } from '../../../ui/Copy.tsx'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { SearchField } from '../../../ui/filters/SearchField.tsx'
import { PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Pages } from '../../../ui/Pages.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { VendorLogo } from '../../../ui/VendorLogo.tsx'
import { When } from '../../../ui/When.tsx'
import { datasetTitle } from './dataset-title.ts'
import { VendorRequests } from './VendorRequests.tsx'
import { type VendorsSearch, vendorsQuery } from './vendors-search.ts'

const route = getRouteApi('/signed-in/organization/$organization_id/vendors')

/** The vendors with access, and the verified ones to choose from; a search finds every vendor, so that another can be granted access. */
export function VendorsPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const { data: list } = useSuspenseQuery(read('listVendors', { params, query: vendorsQuery(search) }))
  const { data: requests } = useSuspenseQuery(read('listVendorRequests', { params }))
  const { data: organization } = useSuspenseQuery(read('getOrganization', { params }))
  const [, change] = useUrlState<VendorsSearch>()
  return (
    <>
      <PageHeader
        title="Vendor access"
        description="The vendors that may read your data, and which datasets. A vendor reads only what you granted."
      />
      <Stack>
        <VendorRequests
          organizationId={params.organization_id}
          requests={requests.data.filter(({ state }) => state === 'open' || state === 'declined')}
          datasets={organization.datasets}
        />
        <Group justify="space-between" align="flex-end">
          <SearchField label="Find a vendor" placeholder="Name, domain or company id" />
          <SegmentedControl
            aria-label="Which vendors"
            value={search.show ?? 'known'}
            onChange={(show) => change({ show: show === 'verified' ? show : undefined, page: undefined })}
            data={[
              { value: 'known', label: 'Your vendors' },
              { value: 'verified', label: 'Choose a verified vendor' },
            ]}
          />
        </Group>
        <Card withBorder padding="md">
          {list.total === 0 ? (
            <EmptyState
              icon={IconShieldCheck}
              title={
                search.search
                  ? `No vendor matches “${search.search}”`
                  : search.show
                    ? 'No other verified vendor'
                    : 'No vendor has access'
              }
            >
              {search.search
                ? 'Ask the vendor for its name or company id in Bridgework. In production, only vendors that the operator verified are found.'
                : 'To grant access, choose a verified vendor, or search for one by its name, domain or company id.'}
            </EmptyState>
          ) : (
            <DataTable
              caption="Vendors"
              rows={list.data}
              rowKey={({ company_id }) => company_id}
              columns={[
                {
                  header: 'Vendor',
                  cell: ({ company_id, name, verified_domain, logo }) => (
                    <Group gap="xs" wrap="nowrap">
                      <VendorLogo name={name} logo={logo} size={28} />
                      <div>
                        <PageLink
                          size="sm"
                          fw={500}
                          to="/organization/$organization_id/vendors/$company_id"
                          params={{ ...params, company_id }}
                        >
                          <bdi>{name}</bdi>
                        </PageLink>
                        {verified_domain && (
                          <Text size="xs" c="dimmed">
                            {verified_domain}
                          </Text>
                        )}
                      </div>
                    </Group>
                  ),
                },
                {
                  header: 'Identity',
                  cell: ({ is_verified }) => <StateBadge state={is_verified ? 'verified' : 'not_verified'} />,
                },
                {
                  header: 'Access',
                  cell: ({ has_access }) =>
                    has_access ? <StateBadge state="granted" /> : <StateBadge state="closed" label="No access" />,
                },
                { header: 'May read', cell: (vendor) => <MayRead vendor={vendor} /> },
                { header: 'Granted', cell: ({ granted_at }) => <When at={granted_at} never="–" /> },
                { header: 'Last read', cell: ({ last_read_at }) => <When at={last_read_at} /> },
              ]}
            />
          )}
        </Card>
        <Pages list={list} />
        <Section
          title="Let a vendor ask for access"
          description="Give this id to a vendor that you want to work with. With it the vendor can send you a request; you decide."
        >
          <CopyField label="Practice id" value={params.organization_id} />
        </Section>
        {!search.search && list.total > 0 && (
          <Text size="sm" c="dimmed">
            To grant another vendor access, search for its name, its verified domain or its company id.
          </Text>
        )}
      </Stack>
    </>
  )
}

function MayRead({ vendor: { datasets, locations } }: { vendor: VendorEntry }) {
  if (datasets.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        nothing
      </Text>
    )
  }
  const [first = '', ...others] = datasets.map(datasetTitle)
  return (
    <Text size="sm" title={datasets.map(datasetTitle).join(', ')}>
      {others.length === 0 ? first : `${first} and ${others.length} more`}
      <Text span size="sm" c="dimmed">
        {' '}
        · {locations} {locations === 1 ? 'location' : 'locations'}
      </Text>
    </Text>
  )
}
