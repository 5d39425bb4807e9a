import { Card, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { useFound } from '../../ui/found.ts'
import { ButtonLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { When } from '../../ui/When.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/removals')

/** Removals that are too large to happen without a person. */
export function RemovalsPage() {
  const params = route.useParams()
  const { data } = useSuspenseQuery(read('listRemovals', { params }, { everyMs: 30_000 }))
  const found = useFound(data.data, ({ location_name, title }) => `${location_name} ${title}`)
  return (
    <>
      <PageHeader
        title="Removals"
        description="When a large part of a dataset is suddenly gone from your system, we hide nothing before you say so: a broken export must not empty what vendors have."
      />
      <Stack>
        {data.data.length > 0 && <SearchField label="Search removals" placeholder="Location or dataset" />}
        <Card withBorder padding="md">
          {data.data.length === 0 ? (
            <EmptyState icon={IconCircleCheck} title="Nothing waits for you">
              Everyday removals go through by themselves. One that would hide more than a fifth of a dataset shows up
              here.
            </EmptyState>
          ) : (
            <DataTable
              caption="Removals that wait"
              rows={found}
              rowKey={({ location_id, dataset }) => `${location_id} ${dataset}`}
              columns={[
                { header: 'Location', cell: ({ location_name }) => <Text size="sm">{location_name}</Text> },
                { header: 'Dataset', cell: ({ title }) => title },
                {
                  header: 'Would hide',
                  cell: ({ missing, visible }) => `${missing.toLocaleString()} of ${visible.toLocaleString()}`,
                },
                { header: 'Held since', cell: ({ held_at }) => <When at={held_at} /> },
                {
                  header: 'Acts',
                  isHidden: true,
                  align: 'right',
                  cell: ({ location_id, location_name, dataset, title }) => (
                    <ButtonLink
                      size="xs"
                      to="/organization/$organization_id/removals/$location_id/$dataset"
                      params={{ ...params, location_id, dataset }}
                      aria-label={`Look at ${title} of ${location_name}`}
                    >
                      Look
                    </ButtonLink>
                  ),
                },
              ]}
            />
          )}
        </Card>
      </Stack>
    </>
  )
}
