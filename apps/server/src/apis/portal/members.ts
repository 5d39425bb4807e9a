import type { Action, Member } from '@bridgework/contract/portal'
import type { PoolClient } from 'pg'
import { recordAudit } from '../../modules/audit/store.ts'
import {
  addTenantMember,
  changeMemberRole,
  listTenantMembers,
  nameOfTenant,
  removeTenantMember,
  requireInvitedMember,
  type Tenant,
  type TenantMember,
  transferOwnership,
} from '../../modules/directory/tenant-member.ts'
import { inviteMember } from '../../modules/sign-in/invitation.ts'
import { endInvitation, findAccounts, openInvitations } from '../../modules/sign-in/people.ts'
import type { Person } from '../../modules/sign-in/person.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type MemberId, parseUuid } from '../../platform/identity/identity.ts'
import { actorOf, type Doer, entryOf } from './audit.ts'
import type { PortalContext, PortalHandlers } from './context.ts'

/** Who belongs to a company, to an organization and to the operator: one implementation, for each side under its routes. */
export const memberHandlers: PortalHandlers<
  | 'listCompanyMembers'
  | 'inviteCompanyMember'
  | 'resendCompanyInvitation'
  | 'updateCompanyMember'
  | 'removeCompanyMember'
  | 'transferCompanyOwnership'
  | 'listOrganizationMembers'
  | 'inviteOrganizationMember'
  | 'resendOrganizationInvitation'
  | 'updateOrganizationMember'
  | 'removeOrganizationMember'
  | 'transferOrganizationOwnership'
  | 'listOperators'
  | 'inviteOperator'
  | 'removeOperator'
> = {
  listCompanyMembers: async ({ pool }, call) => ({ data: await listMembersOf(pool, companyOf(call), call.person) }),
  inviteCompanyMember: (context, call) => invite(context, call, companyOf(call), 'company_member.manage', call.body),
  resendCompanyInvitation: (context, call) => resend(context, call, companyOf(call), 'company_member.manage'),
  updateCompanyMember: (context, call) =>
    changeRole(context, call, companyOf(call), 'company_member.manage', call.body.role),
  removeCompanyMember: (context, call) => remove(context, call, companyOf(call), 'company_member.manage'),
  transferCompanyOwnership: (context, call) =>
    transfer(context, call, companyOf(call), 'company_ownership.transfer', call.body.member_id),

  listOrganizationMembers: async ({ pool }, call) => ({
    data: await listMembersOf(pool, organizationOf(call), call.person),
  }),
  inviteOrganizationMember: (context, call) =>
    invite(context, call, organizationOf(call), 'organization_member.manage', call.body),
  resendOrganizationInvitation: (context, call) =>
    resend(context, call, organizationOf(call), 'organization_member.manage'),
  updateOrganizationMember: (context, call) =>
    changeRole(context, call, organizationOf(call), 'organization_member.manage', call.body.role),
  removeOrganizationMember: (context, call) =>
    remove(context, call, organizationOf(call), 'organization_member.manage'),
  transferOrganizationOwnership: (context, call) =>
    transfer(context, call, organizationOf(call), 'organization_ownership.transfer', call.body.member_id),

  listOperators: async ({ pool }, { person }) => ({ data: await listMembersOf(pool, operator, person) }),
  inviteOperator: (context, call) =>
    invite(context, call, operator, 'operator.member_manage', { ...call.body, role: 'owner' }),
  removeOperator: (context, call) => remove(context, call, operator, 'operator.member_manage'),
}

/** The people of a tenant as their page shows them. An account's own name and address count more than those that were invited. */
export async function listMembersOf(db: Queryable, tenant: Tenant, reader: Person): Promise<Member[]> {
  const members = await listTenantMembers(db, tenant)
  const [accounts, invited] = await Promise.all([
    findAccounts(
      db,
      members.flatMap((member) => member.userId ?? []),
    ),
    openInvitations(
      db,
      tenant.side,
      members.filter((member) => member.userId === null).map((member) => member.id),
    ),
  ])
  return members.map((member) => {
    const account = member.userId === null ? undefined : accounts.get(member.userId)
    return {
      id: member.id,
      name: account?.name ?? member.name,
      email: account?.email ?? member.email,
      role: member.role,
      state: account ? 'active' : invited.has(member.id) ? 'invited' : 'expired',
      is_you: member.userId === reader.userId,
      two_factor_enabled: account?.isTwoFactorEnabled ?? false,
      joined_at: member.createdAt.toISOString(),
    }
  })
}

/** Mails a new member of a tenant the link with which they come in. Hand down the transaction in which they were added. */
export async function sendInvitation(
  { secretKey, publicUrl }: PortalContext,
  client: Queryable,
  call: Doer,
  tenant: Tenant,
  member: { id: MemberId; email: string; name: string },
): Promise<void> {
  await inviteMember(client, secretKey, publicUrl, {
    side: tenant.side,
    memberId: member.id,
    email: member.email,
    name: member.name,
    tenantName: await nameOfTenant(client, tenant),
    invitedBy: call.person.name,
  })
}

type MemberCall = Doer & { params: Record<string, string> }

/** The two sides whose members have roles and an owner. */
type OwnedTenant = Exclude<Tenant, { side: 'operator' }>

const operator: Tenant = { side: 'operator', id: null }

function companyOf({ member }: Doer): OwnedTenant {
  return { side: 'company', id: member.companyId }
}

function organizationOf({ member }: Doer): OwnedTenant {
  return { side: 'organization', id: member.organizationId }
}

async function invite(
  context: PortalContext,
  call: Doer,
  tenant: Tenant,
  action: Action,
  given: { email: string; name: string; role: TenantMember['role'] },
): Promise<Member> {
  const added = await withTransaction(context.pool, async (client) => {
    const member = await addTenantMember(client, tenant, call.member.memberId, given)
    await sendInvitation(context, client, call, tenant, member)
    await recordAudit(client, entryOf(call, action, `Invited ${describe(member)} as ${roleName(tenant, member.role)}`))
    return member
  })
  const { id, email, name, role } = added
  return {
    id,
    name,
    email,
    role,
    state: 'invited',
    is_you: false,
    two_factor_enabled: false,
    joined_at: added.createdAt.toISOString(),
  }
}

async function resend(context: PortalContext, call: MemberCall, tenant: Tenant, action: Action) {
  return await change(context, call, action, async (client, memberId) => {
    const member = await requireInvitedMember(client, tenant, call.member.memberId, memberId)
    await sendInvitation(context, client, call, tenant, member)
    return `Invited ${describe(member)} again`
  })
}

async function changeRole(
  context: PortalContext,
  call: MemberCall,
  tenant: OwnedTenant,
  action: Action,
  role: 'admin' | 'member',
) {
  return await change(context, call, action, async (client, memberId) => {
    const member = await changeMemberRole(client, tenant, call.member.memberId, { memberId, role })
    return `Made ${describe(member)} ${roleName(tenant, role)}`
  })
}

async function remove(context: PortalContext, call: MemberCall, tenant: Tenant, action: Action) {
  return await change(context, call, action, async (client, memberId) => {
    // The member before the invitation, as for those who accept one: nobody waits in a circle.
    const member = await removeTenantMember(client, tenant, call.member.memberId, memberId)
    await endInvitation(client, tenant.side, memberId)
    return `Removed ${describe(member)}`
  })
}

async function transfer(
  context: PortalContext,
  call: MemberCall,
  tenant: OwnedTenant,
  action: Action,
  memberId: string,
) {
  return await change(context, { ...call, params: { member_id: memberId } }, action, async (client, heirId) => {
    const heir = await transferOwnership(client, tenant, call.member.memberId, heirId)
    return `From ${actorOf(call)} to ${describe(heir)}`
  })
}

/** Changes a member of the path and puts what was done on record: both or neither. */
async function change(
  { pool }: PortalContext,
  call: MemberCall,
  action: Action,
  act: (client: PoolClient, memberId: MemberId) => Promise<string>,
): Promise<{ done: true }> {
  const memberId = parseUuid<MemberId>(call.params.member_id ?? '')
  if (memberId === null) throw new Problem('member_unknown')
  await withTransaction(pool, async (client) => {
    const subject = await act(client, memberId)
    await recordAudit(client, entryOf(call, action, subject))
  })
  return { done: true }
}

function roleName(tenant: Tenant, role: TenantMember['role']): string {
  return tenant.side === 'operator' ? 'operator' : role
}

function describe(member: TenantMember): string {
  return `${member.name} <${member.email}>`
}
