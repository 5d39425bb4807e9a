import type { AuditEvent, Listed } from '@bridgework/contract/portal'
import { Card, Stack } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Pages } from '../../ui/Pages.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { type ListSearch, useUrlState } from '../../ui/url-state.ts'
import { EventTable } from './EventTable.tsx'

/** The history page of each side. `events`: the page that the address names. */
export function History({ events, description }: { events: Listed<AuditEvent>; description: string }) {
  const [{ search }] = useUrlState<ListSearch>()
  return (
    <>
      <PageHeader title="History" description={description} />
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
