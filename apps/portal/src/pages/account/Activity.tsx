import { IconHistory } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { Section } from '../../ui/Section.tsx'
import { useFound } from '../../ui/state/found.ts'
import { EventTable } from '../history/EventTable.tsx'

/** What happened to the account. */
export function Activity() {
  const events = useSuspenseQuery(read('listAccountEvents')).data.data
  const found = useFound(events, ({ what, ip }) => `${what} ${ip ?? ''}`)
  return (
    <Section
      title="Activity"
      description="Sign-ins and changes to this account. If you do not recognize one, change your password at once."
      actions={events.length > 0 && <SearchField label="Search activity" placeholder="Action or address" />}
    >
      {found.length === 0 ? (
        <EmptyState
          icon={IconHistory}
          title={events.length === 0 ? 'No activity yet' : 'No activity matches the search'}
        />
      ) : (
        <EventTable caption="Activity of your account" events={found} />
      )}
    </Section>
  )
}
