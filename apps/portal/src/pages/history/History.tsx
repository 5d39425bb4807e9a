import type { AuditEvent, Listed, Side } from '@bridgework/contract/portal'
import { Button, Card, Stack } from '@mantine/core'
import { IconDownload, IconHistory } from '@tabler/icons-react'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pages } from '../../ui/Pages.tsx'
import { useUrlState } from '../../ui/state/url-state.ts'
import { EventTable } from './EventTable.tsx'
import { HistoryFilters } from './HistoryFilters.tsx'
import type { HistorySearch } from './history-search.ts'

/** The history page of each side. `events`: the page that the address names; `file`: the address of all that the filters find, as CSV. */
export function History({
  side,
  events,
  description,
  file,
}: {
  side: Side
  events: Listed<AuditEvent>
  description: string
  file: string
}) {
  const [{ page: _, ...filter }] = useUrlState<HistorySearch>()
  const isFiltered = Object.values(filter).some(Boolean)
  return (
    <>
      <PageHeader
        title="History"
        description={description}
        actions={
          events.total > 0 && (
            <Button
              component="a"
              href={file}
              download
              variant="default"
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              Download as CSV
            </Button>
          )
        }
      />
      <Stack>
        <HistoryFilters side={side} />
        <Card withBorder>
          {events.data.length === 0 ? (
            <EmptyState icon={IconHistory} title={isFiltered ? 'No entry matches the filters' : 'No entries yet'}>
              Every change is recorded here, with the person and the address that it came from.
            </EmptyState>
          ) : (
            <EventTable caption="History" events={events.data} />
          )}
        </Card>
        <Pages list={events} />
      </Stack>
    </>
  )
}
