import type { Member } from '@bridgework/contract/portal'
import { ActionIcon, Button, Card, Menu, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconDots, IconUserPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, useAct } from '../../api/query.ts'
import { useMay, useMembership } from '../../api/session.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { useFound } from '../../ui/found.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { SearchField } from '../../ui/SearchField.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { WhoMay } from '../../ui/WhoMay.tsx'
import { type InvitableRole, InviteDialog } from './InviteDialog.tsx'
import { MemberName, TwoFactor } from './MemberCells.tsx'

const sides = {
  company: {
    key: 'company_id',
    list: 'listCompanyMembers',
    invite: 'inviteCompanyMember',
    update: 'updateCompanyMember',
    remove: 'removeCompanyMember',
    resend: 'resendCompanyInvitation',
    transfer: 'transferCompanyOwnership',
    manage: 'company_member.manage',
    handOver: 'company_ownership.transfer',
    roles: {
      admin: 'Generates keys, manages members and settings. Cannot accept the agreement.',
      member: 'Reads everything but keys and the history. Changes nothing.',
    },
  },
  organization: {
    key: 'organization_id',
    list: 'listOrganizationMembers',
    invite: 'inviteOrganizationMember',
    update: 'updateOrganizationMember',
    remove: 'removeOrganizationMember',
    resend: 'resendOrganizationInvitation',
    transfer: 'transferOrganizationOwnership',
    manage: 'organization_member.manage',
    handOver: 'organization_ownership.transfer',
    roles: {
      admin: 'Grants vendors access, enrols agents, reads disclosures, manages members.',
      member: 'Sees locations, agents and vendor access. Changes nothing.',
    },
  },
} as const

type Asked = { act: 'remove' | 'handOver'; member: Member } | null

/** The people of a company or of a practice, what each may do, and who was invited. */
export function Members({ side, id }: { side: keyof typeof sides; id: string }) {
  const names = sides[side]
  const tenant = { [names.key]: id }
  const members = useSuspenseQuery(read(names.list, { params: tenant })).data.data
  const found = useFound(members, ({ name, email, role }) => `${name} ${email} ${role}`)
  const may = useMay(id)
  const place = useMembership(side, id)?.name ?? 'this account'
  const invite = useAct(names.invite)
  const update = useAct(names.update)
  const remove = useAct(names.remove)
  const resend = useAct(names.resend)
  const transfer = useAct(names.transfer)
  const [isInviting, { open, close }] = useDisclosure()
  const [asked, setAsked] = useState<Asked>(null)
  const mayManage = may(names.manage)
  const mayHandOver = may(names.handOver)
  const paramsOf = (member: Member) => ({ ...tenant, member_id: member.id })
  const tell = (message: string) => () => notifications.show({ message })
  const fail = (error: Error) => notifications.show({ message: error.message, color: 'red' })

  const menuOf = (member: Member) => {
    if (!mayManage || member.role === 'owner') return null
    const other: InvitableRole = member.role === 'admin' ? 'member' : 'admin'
    return (
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`What to do with ${member.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            onClick={() =>
              update.mutate(
                { params: paramsOf(member), body: { role: other } },
                { onSuccess: tell(`${member.name} is now ${withArticle(other)}.`), onError: fail },
              )
            }
          >
            Make {withArticle(other)}
          </Menu.Item>
          {member.state !== 'active' && (
            <Menu.Item
              onClick={() =>
                resend.mutate({ params: paramsOf(member) } as Parameters<typeof resend.mutate>[0], {
                  onSuccess: tell(`Invitation sent again to ${member.email}.`),
                  onError: fail,
                })
              }
            >
              Send the invitation again
            </Menu.Item>
          )}
          {mayHandOver && member.state === 'active' && (
            <Menu.Item onClick={() => setAsked({ act: 'handOver', member })}>Hand over ownership…</Menu.Item>
          )}
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setAsked({ act: 'remove', member })}>
            {member.state === 'active' ? 'Remove…' : 'Withdraw the invitation…'}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    )
  }

  return (
    <>
      <PageHeader
        title="Members"
        description={`People who act for ${place}, and what each may do.`}
        actions={
          mayManage && (
            <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={open}>
              Invite a member
            </Button>
          )
        }
      />
      <Stack>
        <SearchField label="Search members" placeholder="Name, e-mail or role" />
        <Card withBorder padding="md">
          <DataTable
            caption="Members"
            rows={found}
            rowKey={(member) => member.id}
            columns={[
              { header: 'Name', cell: (member) => <MemberName member={member} /> },
              { header: 'Role', cell: (member) => <Text size="sm">{capital(member.role)}</Text> },
              { header: 'State', cell: (member) => <StateBadge state={member.state} /> },
              { header: 'Two-factor', cell: (member) => <TwoFactor member={member} /> },
              { header: 'Since', cell: (member) => <When at={member.joined_at} /> },
              ...(mayManage ? [{ header: 'Acts', isHidden: true, align: 'right' as const, cell: menuOf }] : []),
            ]}
          />
        </Card>
        {!mayManage && <WhoMay action={names.manage} what="invite members and change their roles" />}
      </Stack>
      <InviteDialog
        opened={isInviting}
        onClose={close}
        title="Invite a member"
        roles={names.roles}
        onInvite={(body) => invite.mutateAsync({ params: tenant, body })}
      />
      <ConfirmDialog
        opened={asked?.act === 'remove'}
        onClose={() => setAsked(null)}
        title={`Remove ${asked?.member.name ?? ''}?`}
        confirm="Remove"
        onConfirm={async () =>
          asked && (await remove.mutateAsync({ params: paramsOf(asked.member) } as Parameters<typeof remove.mutate>[0]))
        }
      >
        {asked?.member.email} loses access to {place} at once. What they did stays in the history.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked?.act === 'handOver'}
        onClose={() => setAsked(null)}
        title="Hand over ownership?"
        typed={asked?.member.name ?? ''}
        confirm="Hand over"
        onConfirm={async () =>
          asked && (await transfer.mutateAsync({ params: tenant, body: { member_id: asked.member.id } }))
        }
      >
        {asked?.member.name} becomes the owner of {place} and you become an admin. Only the new owner can undo this.
      </ConfirmDialog>
    </>
  )
}

function withArticle(role: string): string {
  return `${role === 'admin' ? 'an' : 'a'} ${role}`
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
