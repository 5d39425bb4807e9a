import { Stack, Text } from '@mantine/core'
import { IconGauge } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { When } from '../../ui/When.tsx'

/** How much of their limits companies and addresses use at this moment. */
export function LimitsPage() {
  const { data: limits } = useSuspenseQuery(read('getLimits', {}, { everyMs: 2_000 }))
  return (
    <>
      <PageHeader
        title="Limits"
        description="What is in use at this moment; whoever asks for more gets 429. This page follows by itself."
      />
      <Stack>
        <Section
          title="Sync slots"
          description="Locations that a company reads right now. Initial: everything; incremental: what changed."
        >
          {limits.slots.length === 0 ? (
            <EmptyState icon={IconGauge} title="No company is reading" />
          ) : (
            <DataTable
              caption="Sync slots"
              rows={limits.slots}
              rowKey={({ company_id, sync_type }) => `${company_id} ${sync_type}`}
              columns={[
                { header: 'Company', cell: ({ company_name }) => <Text size="sm">{company_name}</Text> },
                { header: 'Kind', cell: ({ sync_type }) => sync_type },
                { header: 'In use', cell: ({ location_ids, max }) => <Use used={location_ids.length} max={max} /> },
                { header: 'Locations', cell: ({ location_ids }) => location_ids.join(', ') },
              ]}
            />
          )}
        </Section>
        <Section title="Token requests" description="Addresses that asked for a token within the last 60 seconds.">
          {limits.token_attempts.length === 0 ? (
            <EmptyState icon={IconGauge} title="Nobody asked for a token" />
          ) : (
            <DataTable
              caption="Token requests"
              rows={limits.token_attempts}
              rowKey={({ address }) => address}
              columns={[
                { header: 'Address', cell: ({ address }) => <Text size="sm">{address}</Text> },
                { header: 'Requests', cell: ({ admitted, max }) => <Use used={admitted} max={max} /> },
                { header: 'First of them', cell: ({ oldest_at }) => <When at={oldest_at} /> },
              ]}
            />
          )}
        </Section>
      </Stack>
    </>
  )
}

function Use({ used, max }: { used: number; max: number }) {
  return (
    <Text size="sm" {...(used >= max && { fw: 700 })}>
      {used} of {max}
      {used >= max && ', full'}
    </Text>
  )
}
