import type { GivenRole, Member, Side } from '@bridgework/contract/portal'
import { ActionIcon, Button, Card, Menu, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconDots, IconUserPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { read, useAct } from '../../api/query.ts'
import { useMay, useMembership } from '../../api/session.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../ui/DataTable.tsx'
import { SearchField } from '../../ui/filters/SearchField.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { useFound } from '../../ui/state/found.ts'
import { When } from '../../ui/When.tsx'
import { WhoMay } from '../../ui/WhoMay.tsx'
import { InviteDialog, type Roles } from './InviteDialog.tsx'
import { MemberName, SecondFactor } from './MemberCells.tsx'
import { MemberSessions } from './MemberSessions.tsx'
import { SecondFactorRule } from './SecondFactorRule.tsx'

/** The roles that may be chosen on each side, and what each may do. */
const rolesOf: Record<Side, Roles> = {
  company: {
    member: 'Reads everything but keys and the history. Changes nothing.',
    admin: 'Generates keys, manages members and settings. Cannot accept the agreement.',
  },
  organization: {
    member: 'Sees locations, agents and vendor access. Changes nothing.',
    admin: 'Grants vendors access, enrolls agents, reads disclosures, manages members.',
  },
  operator: {
    support:
      'Reads every page here. Creates, suspends and resumes with a reason. Changes no operators and no agreement.',
    admin: 'May do everything here.',
  },
}

type Asked = { act: 'remove' | 'transfer'; member: Member } | { act: 'role'; member: Member; role: GivenRole } | null

/** The people of a company, of a practice or of the operator, what each may do, and who was invited. */
export function MembersPage() {
  const ids = useParams({ strict: false })
  const tenant = { tenant_id: ids.company_id ?? ids.organization_id ?? 'operator' }
  const members = useSuspenseQuery(read('listMembers', { params: tenant })).data.data
  const membership = useMembership(tenant.tenant_id)
  const side = membership?.side ?? 'company'
  const isOperator = side === 'operator'
  const roles = rolesOf[side]
  const [title, one] = !isOperator ? ['Members', 'member'] : ['Operators', 'operator']
  const found = useFound(members, ({ name, email, role }) => `${name} ${email} ${role}`)
  const may = useMay(tenant.tenant_id)
  const place = !isOperator ? (membership?.name ?? 'this account') : 'the operator’s pages'
  const invite = useAct('inviteMember')
  const update = useAct('updateMember')
  const remove = useAct('removeMember')
  const resend = useAct('resendInvitation')
  const transfer = useAct('transferOwnership')
  const [isInviting, { open, close }] = useDisclosure()
  const [asked, setAsked] = useState<Asked>(null)
  const [shown, setShown] = useState<Member | null>(null)
  const mayManage = may('member.manage')
  const paramsOf = (member: Member) => ({ ...tenant, member_id: member.id })
  const notify = (message: string) => () => notifications.show({ message })
  const fail = (error: Error) => notifications.show({ message: error.message, color: 'red' })

  const menuOf = (member: Member) => {
    // The owner stays until ownership is transferred; an operator is removed by another one.
    if (isOperator ? member.is_you : member.role === 'owner') return null
    const least: GivenRole = isOperator ? 'support' : 'member'
    const other: GivenRole = member.role === 'admin' ? least : 'admin'
    return (
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${member.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsked({ act: 'role', member, role: other })}>{makeRole(other)}…</Menu.Item>
          {member.state !== 'active' && (
            <Menu.Item
              onClick={() =>
                resend.mutate(
                  { params: paramsOf(member) },
                  { onSuccess: notify(`Invitation sent again to ${member.email}.`), onError: fail },
                )
              }
            >
              Send invitation again
            </Menu.Item>
          )}
          {may('member_session.read') && member.state === 'active' && (
            <Menu.Item onClick={() => setShown(member)}>Sessions…</Menu.Item>
          )}
          {may('ownership.transfer') && member.state === 'active' && (
            <Menu.Item onClick={() => setAsked({ act: 'transfer', member })}>Transfer ownership…</Menu.Item>
          )}
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setAsked({ act: 'remove', member })}>
            {member.state === 'active' ? 'Remove…' : 'Withdraw invitation…'}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    )
  }

  return (
    <>
      <PageHeader
        title={title}
        description={
          isOperator
            ? 'The people who run this installation, and what each may do. None reads a practice’s data.'
            : `People who act for ${place}, and what each may do.`
        }
        actions={
          mayManage && (
            <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={open}>
              Invite {one}
            </Button>
          )
        }
      />
      <Stack>
        <SearchField label={`Search ${title.toLowerCase()}`} placeholder="Name, e-mail or role" />
        <Card withBorder padding="md">
          <DataTable
            caption={title}
            rows={found}
            rowKey={(member) => member.id}
            columns={[
              { header: 'Name', cell: (member) => <MemberName member={member} /> },
              { header: 'Role', cell: ({ role }) => <Text size="sm">{capital(role)}</Text> },
              { header: 'State', cell: (member) => <StateBadge state={member.state} /> },
              { header: 'Second factor', cell: (member) => <SecondFactor member={member} /> },
              { header: 'Joined', cell: (member) => <When at={member.joined_at} /> },
              ...(mayManage ? [{ header: 'Actions', isHidden: true, align: 'right' as const, cell: menuOf }] : []),
            ]}
          />
        </Card>
        {!mayManage && (
          <WhoMay action="member.manage" side={side} what={`invite ${title.toLowerCase()} and change their roles`} />
        )}
        <SecondFactorRule tenant={tenant} side={side} members={members} />
      </Stack>
      <InviteDialog
        tenantId={tenant.tenant_id}
        opened={isInviting}
        onClose={close}
        title={`Invite ${one}`}
        roles={roles}
        onInvite={(body) => invite.mutateAsync({ params: tenant, body })}
      />
      <MemberSessions tenant={tenant} member={shown} onClose={() => setShown(null)} />
      <ConfirmDialog
        opened={asked?.act === 'role'}
        onClose={() => setAsked(null)}
        title={asked?.act === 'role' ? `${makeRole(asked.role)}: ${asked.member.name}?` : ''}
        confirm={asked?.act === 'role' ? makeRole(asked.role) : ''}
        color="indigo"
        onConfirm={async () => {
          if (asked?.act !== 'role') return
          await update.mutateAsync({ params: paramsOf(asked.member), body: { role: asked.role } })
          notifications.show({ message: `${asked.member.name} is now ${inWords[asked.role]}.` })
        }}
      >
        {asked?.act === 'role' &&
          `${asked.member.email}, now ${inWords[asked.member.role as GivenRole]}: ${roles[asked.role]}`}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked?.act === 'remove'}
        onClose={() => setAsked(null)}
        title={`Remove ${asked?.member.name ?? ''}?`}
        {...(isOperator && { typed: asked?.member.name ?? '' })}
        confirm="Remove"
        onConfirm={async () => asked && (await remove.mutateAsync({ params: paramsOf(asked.member) }))}
      >
        {asked?.member.email} loses access to {place} at once. The history keeps what they did.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked?.act === 'transfer'}
        onClose={() => setAsked(null)}
        title="Transfer ownership?"
        typed={asked?.member.name ?? ''}
        confirm="Transfer"
        onConfirm={async () =>
          asked && (await transfer.mutateAsync({ params: tenant, body: { member_id: asked.member.id } }))
        }
      >
        {asked?.member.name} becomes the owner of {place} and you become an admin. Only the new owner can undo this.
      </ConfirmDialog>
    </>
  )
}

function makeRole(role: GivenRole): string {
  return role === 'support' ? 'Move to support' : `Make ${inWords[role]}`
}

const inWords: Record<GivenRole, string> = { admin: 'an admin', member: 'a member', support: 'in support' }

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
