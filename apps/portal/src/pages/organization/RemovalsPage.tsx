import type { RemovalEntry } from '@bridgework/contract/portal'
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

/** Removals that are so large that a person must confirm them, and those that are carried out. */
export function RemovalsPage() {
  const params = route.useParams()
  const { data } = useSuspenseQuery(read('listRemovals', { params }, { everyMs: 10_000 }))
  const found = useFound(data.data, ({ location_name, title }) => `${location_name} ${title}`)
  return (
    <>
      <PageHeader
        title="Removals"
        description="When a large part of a dataset is suddenly missing from your system, nothing is hidden until you decide. A failed export could be the cause."
      />
      <Stack>
        {data.data.length > 0 && <SearchField label="Search removals" placeholder="Location or dataset" />}
        <Card withBorder padding="md">
          {data.data.length === 0 ? (
            <EmptyState icon={IconCircleCheck} title="No removals to review">
              Small removals take effect without a review. A removal that would hide more than a fifth of a dataset is
              listed here.
            </EmptyState>
          ) : (
            <DataTable
              caption="Removals"
              rows={found}
              rowKey={({ location_id, dataset }) => `${location_id} ${dataset}`}
              columns={[
                { header: 'Location', cell: ({ location_name }) => <Text size="sm">{location_name}</Text> },
                { header: 'Dataset', cell: ({ title }) => title },
                { header: 'Progress', cell: progressOf },
                { header: 'Since', cell: ({ held_at }) => <When at={held_at} /> },
                {
                  header: 'Actions',
                  isHidden: true,
                  align: 'right',
                  cell: ({ location_id, location_name, dataset, title, state }) =>
                    state === 'held' && (
                      <ButtonLink
                        size="xs"
                        to="/organization/$organization_id/removals/$location_id/$dataset"
                        params={{ ...params, location_id, dataset }}
                        aria-label={`Review ${title} of ${location_name}`}
                      >
                        Review
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

function progressOf({ state, remaining, hidden, visible }: RemovalEntry): string {
  if (state === 'held') return `Would hide ${remaining.toLocaleString()} of ${visible.toLocaleString()}`
  return `${hidden.toLocaleString()} of ${(hidden + remaining).toLocaleString()} are hidden`
}
