import type { Member as MemberEntry } from '@bridgework/contract/portal'
import type { PoolClient } from 'pg'
import type { AuditAction, FactsOf } from '../../../modules/audit/in-words.ts'
import { recordAudit } from '../../../modules/audit/store.ts'
import {
  type Actor,
  addMemberBy,
  changeMemberRole,
  removeMember,
  requireInvitedMember,
  transferOwnership,
} from '../../../modules/membership/change-member.ts'
import { listMembers, type Member } from '../../../modules/membership/member.ts'
import type { Tenant } from '../../../modules/membership/tenant.ts'
import { inviteMember } from '../../../modules/sign-in/invitation.ts'
import { type Account, endInvitation, findAccounts, openInvitations } from '../../../modules/sign-in/people.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type MemberId, parseUuid } from '../../../platform/identity/identity.ts'
import { type Doer, entryOf } from './audit.ts'
import type { PortalContext, PortalHandlers } from './context.ts'
import { tenantOf } from './membership.ts'

/** Who belongs to a company, to an organization and to the operator. */
export const memberHandlers: PortalHandlers<
  'listMembers' | 'inviteMember' | 'updateMember' | 'removeMember' | 'resendInvitation' | 'transferOwnership'
> = {
  listMembers: async ({ pool }, { member, person }) => ({ data: await listMembersOf(pool, tenantOf(member), person) }),

  inviteMember: async (context, call) => {
    const actor = actorIn(call)
    const { email, name, role } = call.body
    const added = await withTransaction(context.pool, async (client) => {
      const member = await addMemberBy(client, actor, { email, name, role })
      await inviteMember(client, context, member, call.person.name)
      await recordAudit(client, entryOf(call, 'member.manage', { change: 'invited', member, role }))
      return member
    })
    return toEntry(added, 'invited', call.person)
  },

  resendInvitation: (context, call) =>
    change(context, call, 'member.manage', async (client, actor, memberId) => {
      const member = await requireInvitedMember(client, actor, memberId)
      await inviteMember(client, context, member, call.person.name)
      return { change: 'invited again' as const, member }
    }),

  updateMember: (context, call) =>
    change(context, call, 'member.manage', async (client, actor, memberId) => {
      const member = await changeMemberRole(client, actor, memberId, call.body.role)
      return { change: 'made' as const, member, role: member.role }
    }),

  removeMember: (context, call) =>
    change(context, call, 'member.manage', async (client, actor, memberId) => {
      // The member before the invitation, as for those who accept one: nobody waits in a circle.
      const member = await removeMember(client, actor, memberId)
      await endInvitation(client, memberId)
      return { change: 'removed' as const, member }
    }),

  transferOwnership: (context, call) =>
    change(context, { ...call, params: call.body }, 'ownership.transfer', async (client, actor, memberId) => {
      const heir = await transferOwnership(client, actor, memberId)
      return { from: call.person, to: heir }
    }),
}

/** The people of a tenant as their page shows them. */
export async function listMembersOf(db: Queryable, tenant: Tenant, reader: Person): Promise<MemberEntry[]> {
  const members = await listMembers(db, tenant)
  const [accounts, invited] = await Promise.all([
    findAccounts(
      db,
      members.flatMap(({ userId }) => userId ?? []),
    ),
    openInvitations(
      db,
      members.filter(({ userId }) => userId === null).map(({ id }) => id),
    ),
  ])
  return members.map((member) => {
    const account = member.userId === null ? undefined : accounts.get(member.userId)
    return toEntry(member, account ?? (invited.has(member.id) ? 'invited' : 'expired'), reader)
  })
}

/** An account's own name and address count more than those that were invited. */
function toEntry(member: Member, account: Account | 'invited' | 'expired', reader: Person): MemberEntry {
  const isActive = typeof account !== 'string'
  const { name, email } = isActive ? account : member
  return {
    id: member.id,
    name,
    email,
    role: member.role,
    state: isActive ? 'active' : account,
    is_you: member.userId === reader.userId,
    has_second_factor: isActive && account.hasSecondFactor,
    joined_at: member.createdAt.toISOString(),
  }
}

/** Changes a member of the path and puts what was done on record: both or neither. */
async function change<Action extends AuditAction>(
  { pool }: PortalContext,
  call: Doer & { params: Record<string, string> },
  action: Action,
  act: (client: PoolClient, actor: Actor, memberId: MemberId) => Promise<FactsOf<Action>>,
): Promise<{ done: true }> {
  const memberId = parseUuid<MemberId>(call.params.member_id ?? '')
  if (memberId === null) throw new Problem('member_unknown')
  await withTransaction(pool, async (client) => {
    const facts = await act(client, actorIn(call), memberId)
    await recordAudit(client, entryOf(call, action, facts))
  })
  return { done: true }
}

function actorIn({ member }: Doer): Actor {
  return { tenant: tenantOf(member), id: member.memberId }
}
