import type { Member } from '@bridgework/contract/portal'
import { Button, Card, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, useAct } from '../../api/query.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { useFound } from '../../ui/found.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { InviteDialog } from '../members/InviteDialog.tsx'
import { MemberName, TwoFactor } from '../members/MemberCells.tsx'

/** The people who run this installation: all of them may do everything on this side. */
export function OperatorsPage() {
  const { data } = useSuspenseQuery(read('listOperators'))
  const found = useFound(data.data, ({ name, email }) => `${name} ${email}`)
  const invite = useAct('inviteOperator')
  const remove = useAct('removeOperator')
  const [isInviting, { open, close }] = useDisclosure()
  const [removed, setRemoved] = useState<Member | null>(null)
  return (
    <>
      <PageHeader
        title="Operators"
        description="The people who run this installation. Each may do everything on this side, and reads no practice’s data."
        actions={
          <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={open}>
            Invite an operator
          </Button>
        }
      />
      <Stack>
        <SearchField label="Search operators" placeholder="Name or e-mail" />
        <Card withBorder padding="md">
          <DataTable
            caption="Operators"
            rows={found}
            rowKey={({ id }) => id}
            columns={[
              { header: 'Name', cell: (member) => <MemberName member={member} /> },
              { header: 'State', cell: ({ state }) => <StateBadge state={state} /> },
              { header: 'Two-factor', cell: (member) => <TwoFactor member={member} /> },
              { header: 'Since', cell: ({ joined_at }) => <When at={joined_at} /> },
              {
                header: 'Acts',
                isHidden: true,
                align: 'right',
                cell: (member) =>
                  !member.is_you && (
                    <Button
                      variant="default"
                      size="xs"
                      onClick={() => setRemoved(member)}
                      aria-label={`Remove ${member.name}`}
                    >
                      Remove…
                    </Button>
                  ),
              },
            ]}
          />
        </Card>
      </Stack>
      <InviteDialog
        opened={isInviting}
        onClose={close}
        title="Invite an operator"
        onInvite={({ email, name }) => invite.mutateAsync({ body: { email, name } })}
      />
      <ConfirmDialog
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title="Remove this operator?"
        typed={removed?.name ?? ''}
        confirm="Remove"
        onConfirm={async () => removed && (await remove.mutateAsync({ params: { member_id: removed.id } }))}
      >
        {removed?.email} loses this side of Bridgework at once. What they did stays in the history.
      </ConfirmDialog>
    </>
  )
}
