import type { Member } from '@bridgework/contract/portal'
import { Button, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { read, useAct } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { When } from '../../ui/When.tsx'
import { deviceOf } from '../account/device.ts'
import { SessionDevice } from '../account/SessionDevice.tsx'

/** Where a member is signed in, for the owner, with buttons that end it. `member` null: closed. */
export function MemberSessions({
  tenant,
  member,
  onClose,
}: {
  tenant: { tenant_id: string }
  member: Member | null
  onClose: () => void
}) {
  return (
    <Modal
      opened={member !== null}
      onClose={onClose}
      title={`Sessions of ${member?.name ?? ''}`}
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ exitDuration: 0 }}
    >
      {member && <Sessions params={{ ...tenant, member_id: member.id }} name={member.name} />}
    </Modal>
  )
}

function Sessions({ params, name }: { params: { tenant_id: string; member_id: string }; name: string }) {
  const { data, error } = useQuery(read('listMemberSessions', { params }))
  const end = useAct('endMemberSession')
  const endAll = useAct('endMemberSessions')
  const sessions = data?.data ?? []
  return (
    <Stack>
      <Text size="sm">
        Those that were used here, and when they were last used here. Ending one signs {name} out of everything that it
        is used for. They get an e-mail, and can sign in again.
      </Text>
      <ErrorNote error={error ?? end.error ?? endAll.error} />
      {!data && !error && <Loader size="sm" aria-label="Loading" />}
      {data && sessions.length === 0 && <Text size="sm">No open session.</Text>}
      {sessions.length > 0 && (
        <DataTable
          caption={`Sessions of ${name}`}
          rows={sessions}
          rowKey={({ id }) => id}
          columns={[
            {
              header: 'Device',
              cell: (session) => <SessionDevice {...session} />,
            },
            { header: 'Address', cell: ({ ip }) => ip ?? 'unknown' },
            { header: 'Second factor', cell: ({ second_factor }) => (second_factor ? 'Yes' : 'No') },
            { header: 'Signed in', cell: ({ signed_in_at }) => <When at={signed_in_at} /> },
            { header: 'Last used here', cell: ({ last_used_at }) => <When at={last_used_at} /> },
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
                    onClick={() => end.mutate({ params: { ...params, session_id: id } })}
                  >
                    End
                  </Button>
                ),
            },
          ]}
        />
      )}
      {sessions.length > 0 && !sessions.some(({ is_current }) => is_current) && (
        <Group>
          <Button
            color="red.9"
            loading={endAll.isPending}
            onClick={() =>
              endAll.mutate(
                { params },
                { onSuccess: () => notifications.show({ message: `All sessions of ${name} have ended.` }) },
              )
            }
          >
            End all sessions
          </Button>
        </Group>
      )}
    </Stack>
  )
}
