import { IconHistory } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Section } from '../../ui/Section.tsx'
import { EventTable } from '../history/EventTable.tsx'

/** What happened to the account. */
export function Activity() {
  const events = useSuspenseQuery(read('listAccountEvents')).data.data
  return (
    <Section
      title="Activity"
      description="Sign-ins and changes of this account. If something was not you, change your password at once."
    >
      {events.length === 0 ? (
        <EmptyState icon={IconHistory} title="Nothing yet" />
      ) : (
        <EventTable caption="Activity of your account" events={events} />
      )}
    </Section>
  )
}
