import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { read, useAct } from '../../api/query.ts'
import { endSession } from '../../api/session.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { Section } from '../../ui/Section.tsx'
import { useFound } from '../../ui/state/found.ts'
import { When } from '../../ui/When.tsx'
import { deviceOf } from './device.ts'
import { SessionDevice } from './SessionDevice.tsx'

/** The person's sessions, each with a button that ends it. */
export function OpenSessions() {
  const sessions = useSuspenseQuery(read('listSessions')).data.data
  const found = useFound(sessions, ({ user_agent, ip }) => `${deviceOf(user_agent)} ${ip ?? ''}`)
  const end = useAct('endSession')
  const endAll = useMutation({ mutationFn: () => call('endAllSessions', {}) })
  const [isAsking, { open, close }] = useDisclosure()
  return (
    <Section
      title="Sessions"
      description="Where you are signed in now. If you do not recognize a session, end it and change your password."
      actions={
        <Button variant="default" onClick={open}>
          Sign out everywhere…
        </Button>
      }
    >
      <ErrorNote error={end.error} />
      <ConfirmDialog
        opened={isAsking}
        onClose={close}
        title="Sign out everywhere?"
        confirm="Sign out everywhere"
        onConfirm={async () => {
          await endAll.mutateAsync()
          await endSession('choice')
        }}
      >
        All your sessions end at once, on every device, this one included. Then sign in again.
      </ConfirmDialog>
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
