import { Group, Stack, Text } from '@mantine/core'
import { IconGauge } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { When } from '../../ui/When.tsx'

/** How much of their limits companies and addresses use now. */
export function LimitsPage() {
  const { data: limits } = useSuspenseQuery(read('getLimits', {}, { everyMs: 2_000 }))
  return (
    <>
      <PageHeader
        title="Limits"
        description="Limits in use now. A request above a limit gets status 429. Updates automatically."
      />
      <Stack>
        <Section
          title="Sync slots"
          description="Locations that a company is reading now. Initial: the whole dataset; incremental: changes."
        >
          {limits.slots.length === 0 ? (
            <EmptyState icon={IconGauge} title="No company is reading data" />
          ) : (
            <DataTable
              caption="Sync slots"
              rows={limits.slots}
              rowKey={({ company_id, sync_type }) => `${company_id} ${sync_type}`}
              columns={[
                {
                  header: 'Company',
                  sortBy: 'company',
                  sortValue: ({ company_name }) => company_name,
                  cell: ({ company_id, company_name }) => (
                    <PageLink size="sm" to="/operator/companies/$company_id" params={{ company_id }}>
                      {company_name}
                    </PageLink>
                  ),
                },
                {
                  header: 'Sync type',
                  sortBy: 'sync_type',
                  sortValue: ({ sync_type }) => sync_type,
                  cell: ({ sync_type }) => sync_type,
                },
                {
                  header: 'In use',
                  sortBy: 'in_use',
                  sortValue: ({ location_ids }) => location_ids.length,
                  cell: ({ location_ids, max }) => <Usage used={location_ids.length} max={max} />,
                },
                {
                  header: 'Locations',
                  cell: ({ location_ids }) => (
                    <Group gap="xs">
                      {location_ids.map((location_id) => (
                        <PageLink
                          key={location_id}
                          size="sm"
                          to="/operator/locations/$location_id"
                          params={{ location_id }}
                        >
                          {location_id}
                        </PageLink>
                      ))}
                    </Group>
                  ),
                },
              ]}
            />
          )}
        </Section>
        <Section title="Token requests" description="Addresses that requested a token within the last 60 seconds.">
          {limits.token_attempts.length === 0 ? (
            <EmptyState icon={IconGauge} title="No token requests" />
          ) : (
            <DataTable
              caption="Token requests"
              rows={limits.token_attempts}
              rowKey={({ address }) => address}
              columns={[
                {
                  header: 'Address',
                  sortBy: 'address',
                  sortValue: ({ address }) => address,
                  cell: ({ address }) => <Text size="sm">{address}</Text>,
                },
                {
                  header: 'Requests',
                  sortBy: 'requests',
                  sortValue: ({ admitted }) => admitted,
                  cell: ({ admitted, max }) => <Usage used={admitted} max={max} />,
                },
                {
                  header: 'First request',
                  sortBy: 'first_request',
                  sortValue: ({ oldest_at }) => oldest_at,
                  cell: ({ oldest_at }) => <When at={oldest_at} />,
                },
              ]}
            />
          )}
        </Section>
      </Stack>
    </>
  )
}

function Usage({ used, max }: { used: number; max: number }) {
  return (
    <Text size="sm" {...(used >= max && { fw: 700 })}>
      {used} of {max}
      {used >= max && ', limit reached'}
    </Text>
  )
}
