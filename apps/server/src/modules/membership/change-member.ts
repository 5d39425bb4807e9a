import { type GivenRole, type MemberRole, mayDo, rolesOf } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { MemberId } from '../../platform/identity/identity.ts'
import { addMember, listMembers, type Member, requireMember } from './member.ts'
import { lockTenant, type Tenant } from './tenant.ts'

/** The member who makes a change, in their own tenant: its owner or an admin. */
export type Actor = Pick<Member, 'tenant' | 'id'>

/** So that the list of members, which has no pages, and the mails that invite them stay few. */
const membersMax = 500

/**
 * Adds a person, as `addMember` does, where there are not too many. Like every change here it waits its turn, and reads the actor's role
 * again.
 */
export async function addMemberBy(
  client: Queryable,
  actor: Actor,
  member: { email: string; name: string; role: MemberRole },
): Promise<Member> {
  await takeTurn(client, actor)
  if ((await listMembers(client, actor.tenant)).length >= membersMax) throw new Problem('members_exceeded')
  requireRoleOf(actor.tenant, member.role)
  return await addMember(client, actor.tenant, member)
}

/** Gives a member another role. Throws a Problem like `giveRole`. */
export async function changeMemberRole(
  client: Queryable,
  actor: Actor,
  memberId: MemberId,
  role: GivenRole,
): Promise<Member> {
  await takeTurn(client, actor)
  return await giveRole(client, actor.tenant, memberId, role)
}

/**
 * The same without an actor, for the operator's command line. Throws a Problem for a role that the side does not have, for an owner, who can
 * only transfer ownership, and for the last admin of the operators who can sign in.
 */
export async function giveRole(
  client: Queryable,
  tenant: Tenant,
  memberId: MemberId,
  role: GivenRole,
): Promise<Member> {
  await lockTenant(client, tenant)
  requireRoleOf(tenant, role)
  const member = await requireMember(client, tenant, memberId)
  if (role !== 'admin') await requireOtherAdmin(client, member)
  if (member.role === 'owner') {
    throw new Problem('owner_stays', {
      errors: 'The role of the owner cannot be changed. Transfer ownership to another member first.',
    })
  }
  await setRole(client, member, role)
  return { ...member, role }
}

/** Ends what a member may do, from the next request on. Throws a Problem like `endMembership`. */
export async function removeMember(client: Queryable, actor: Actor, memberId: MemberId): Promise<Member> {
  await takeTurn(client, actor)
  return await endMembership(client, actor.tenant, memberId)
}

/**
 * The same without an actor, for the operator's command line. What the member did keeps their name. Throws a Problem for the owner of a company
 * or an organization, and for the last admin of the operators who can sign in.
 */
export async function endMembership(client: Queryable, tenant: Tenant, memberId: MemberId): Promise<Member> {
  await lockTenant(client, tenant)
  const member = await requireMember(client, tenant, memberId)
  await requireOtherAdmin(client, member)
  if (member.role === 'owner') {
    throw new Problem('owner_stays', {
      errors: 'The owner cannot be removed. Transfer ownership to another member first.',
    })
  }
  await client.query(
    `with moment as (select clock_timestamp() as at)
     update membership set removed_at = moment.at, user_id = null from moment where id = $1`,
    [member.id],
  )
  return member
}

/** A member who was invited and has not accepted yet. Throws a Problem for one who has. */
export async function requireInvitedMember(client: Queryable, actor: Actor, memberId: MemberId): Promise<Member> {
  await takeTurn(client, actor)
  const member = await requireMember(client, actor.tenant, memberId)
  if (member.userId !== null) throw new Problem('member_active')
  return member
}

/** Makes an active member the owner, and the owner an admin. Throws a Problem. */
export async function transferOwnership(client: Queryable, actor: Actor, memberId: MemberId): Promise<Member> {
  const owner = await takeTurn(client, actor)
  if (owner.role !== 'owner') throw new Problem('role_denied', { errors: 'Only the owner can transfer ownership.' })
  const heir = await requireMember(client, actor.tenant, memberId)
  if (heir.role === 'owner')
    throw new Problem('owner_exists', { errors: 'This member is already the owner. Choose another one.' })
  if (heir.userId === null) throw new Problem('member_not_active')
  // In this order: there is never a moment with two owners, which the index would refuse.
  await setRole(client, owner, 'admin')
  await setRole(client, heir, 'owner')
  return { ...heir, role: 'owner' }
}

/**
 * One change of a tenant's members after the other, so that of two that are right alone but not together the second is refused. The tenant is
 * locked before any member.
 */
async function takeTurn(client: Queryable, { tenant, id }: Actor): Promise<Member> {
  await lockTenant(client, tenant)
  const member = (await listMembers(client, tenant)).find((each) => each.id === id)
  if (!member || !mayDo(member.role, 'member.manage', tenant.side)) {
    throw new Problem('role_denied', {
      errors: 'Only an owner or an admin can add, change or remove members. Ask one of them.',
    })
  }
  return member
}

/** A role that the side has, and that is given: an owner becomes one by a transfer. */
function requireRoleOf({ side }: Tenant, role: MemberRole): void {
  const roles: readonly MemberRole[] = rolesOf[side].filter((each) => each !== 'owner')
  if (roles.includes(role)) return
  throw new Problem('field_invalid', { errors: `role must be ${roles.join(' or ')}.` })
}

/** Without an admin who can sign in, no operator could be added any more and no agreement published. */
async function requireOtherAdmin(client: Queryable, { tenant, id, role }: Member): Promise<void> {
  if (tenant.side !== 'operator' || role !== 'admin') return
  const admins = (await listMembers(client, tenant)).filter((each) => each.role === 'admin' && each.userId)
  if (admins.every((each) => each.id === id)) throw new Problem('last_operator')
}

async function setRole(client: Queryable, { id }: Member, role: MemberRole): Promise<void> {
  await client.query('update membership set role = $2 where id = $1', [id, role])
}
