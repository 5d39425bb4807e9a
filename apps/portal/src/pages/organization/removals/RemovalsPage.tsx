import type { RemovalEntry } from '@bridgework/contract/portal'
import { Card, Checkbox, Stack, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { SearchField } from '../../../ui/filters/SearchField.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { ButtonLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { useFound } from '../../../ui/state/found.ts'
import { When } from '../../../ui/When.tsx'
import { DecideRemovals } from './DecideRemovals.tsx'
import { KeptRecords } from './KeptRecords.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/removals')

/** Removals that are so large that a person must confirm them, those that are carried out, and what people decided to keep. */
export function RemovalsPage() {
  const params = route.useParams()
  const { data } = useSuspenseQuery(read('listRemovals', { params }, { everyMs: 10_000 }))
  const found = useFound(data.data, ({ location_name, title }) => `${location_name} ${title}`)
  const mayDecide = useMay(params.organization_id)('removal.decide')
  const [marked, setMarked] = useState<readonly string[]>([])
  const held = found.filter(({ state }) => state === 'held')
  // A removal that has ended since, or is not found any more, is not decided about.
  const chosen = held.filter((removal) => marked.includes(keyOf(removal)))
  return (
    <>
      <PageHeader
        title="Removals"
        description="When a large part of a dataset is suddenly missing from your system, nothing is hidden until you decide. A failed export could be the cause."
      />
      <Stack>
        {data.data.length > 0 && <SearchField label="Search removals" placeholder="Location or dataset" />}
        {mayDecide && held.length > 1 && (
          <DecideRemovals
            chosen={chosen}
            total={held.length}
            organizationId={params.organization_id}
            onMarkAll={(isMarked) => setMarked(isMarked ? held.map(keyOf) : [])}
          />
        )}
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
              rowKey={keyOf}
              columns={[
                {
                  header: 'Location',
                  cell: (removal) =>
                    mayDecide && held.length > 1 && removal.state === 'held' ? (
                      <Checkbox
                        size="sm"
                        label={removal.location_name}
                        aria-label={`Select ${removal.title} of ${removal.location_name}`}
                        checked={marked.includes(keyOf(removal))}
                        onChange={(event) => {
                          const others = marked.filter((key) => key !== keyOf(removal))
                          setMarked(event.currentTarget.checked ? [...others, keyOf(removal)] : others)
                        }}
                      />
                    ) : (
                      <Text size="sm">{removal.location_name}</Text>
                    ),
                },
                { header: 'Dataset', cell: ({ title }) => title },
                { header: 'Progress', cell: progressOf },
                { header: 'Held', cell: ({ held_at }) => <When at={held_at} /> },
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
        {data.kept.length > 0 && (
          <KeptRecords kept={data.kept} organizationId={params.organization_id} mayDecide={mayDecide} />
        )}
      </Stack>
    </>
  )
}

function keyOf({ location_id, dataset }: RemovalEntry): string {
  return `${location_id} ${dataset}`
}

function progressOf({ state, remaining, hidden, visible }: RemovalEntry): string {
  if (state === 'held') return `Would hide ${formatCount(remaining)} of ${formatCount(visible)}`
  return `${formatCount(hidden)} of ${formatCount(hidden + remaining)} are hidden`
}
