import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { read, useAct } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { useFound } from '../../ui/found.ts'
import { SearchField } from '../../ui/SearchField.tsx'
import { Section } from '../../ui/Section.tsx'
import { When } from '../../ui/When.tsx'
import { deviceOf } from './device.ts'
import { SessionDevice } from './SessionDevice.tsx'

/** The person's sessions, each with a button that ends it. */
export function OpenSessions() {
  const sessions = useSuspenseQuery(read('listSessions')).data.data
  const found = useFound(sessions, ({ user_agent, ip }) => `${deviceOf(user_agent)} ${ip ?? ''}`)
  const end = useAct('endSession')
  const others = sessions.filter(({ is_current }) => !is_current)
  const endAll = useMutation({
    mutationFn: async () => {
      for (const { id } of others) await end.mutateAsync({ params: { session_id: id } })
    },
    onSuccess: () => notifications.show({ message: 'All other sessions have ended.' }),
  })
  return (
    <Section
      title="Sessions"
      description="Where you are signed in now. If you do not recognize a session, end it and change your password."
      actions={
        others.length > 0 && (
          <Button variant="default" onClick={() => endAll.mutate()} loading={endAll.isPending}>
            End all other sessions
          </Button>
        )
      }
    >
      <ErrorNote error={end.error} />
      <SearchField label="Search sessions" placeholder="Device or address" />
      <DataTable
        caption="Sessions"
        rows={found}
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Device',
            cell: (session) => <SessionDevice {...session} />,
          },
          { header: 'Address', cell: ({ ip }) => ip ?? 'unknown' },
          { header: 'Signed in', cell: ({ signed_in_at }) => <When at={signed_in_at} /> },
          { header: 'Last seen', cell: ({ last_seen_at }) => <When at={last_seen_at} /> },
          {
            header: 'Actions',
            isHidden: true,
            align: 'right',
            cell: ({ id, is_current, user_agent }) =>
              !is_current && (
                <Button
                  variant="default"
                  size="xs"
                  aria-label={`End session on ${deviceOf(user_agent)}`}
                  onClick={() => end.mutate({ params: { session_id: id } })}
                >
                  End session
                </Button>
              ),
          },
        ]}
      />
    </Section>
  )
}
