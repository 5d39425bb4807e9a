import type { AuditEvent, Listed } from '@bridgework/contract/portal'
import { Button, Card, Stack } from '@mantine/core'
import { IconDownload, IconHistory } from '@tabler/icons-react'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pages } from '../../ui/Pages.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { type ListSearch, useUrlState } from '../../ui/url-state.ts'
import { EventTable } from './EventTable.tsx'

/** The history page of each side. `events`: the page that the address names; `file`: the address of all that the search finds, as CSV. */
export function History({
  events,
  description,
  file,
}: {
  events: Listed<AuditEvent>
  description: string
  file: string
}) {
  const [{ search }] = useUrlState<ListSearch>()
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
        <SearchField label="Search history" placeholder="Person, action or subject" />
        <Card withBorder>
          {events.data.length === 0 ? (
            <EmptyState icon={IconHistory} title={search ? 'No entry matches the search' : 'No entries yet'}>
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
