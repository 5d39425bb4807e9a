import type { MemberRole } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { MemberId } from '../../platform/identity/identity.ts'
import { addMember, listMembers, type Member, requireMember } from './member.ts'
import { lockTenant } from './tenant.ts'

/** The member who makes a change, in their own tenant: its owner, an admin, or an operator. */
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
  return await addMember(client, actor.tenant, member)
}

/** Gives a member another role. Throws a Problem for an owner, who can only transfer ownership, and so for every operator. */
export async function changeMemberRole(
  client: Queryable,
  actor: Actor,
  memberId: MemberId,
  role: 'admin' | 'member',
): Promise<Member> {
  await takeTurn(client, actor)
  const member = await requireMember(client, actor.tenant, memberId)
  if (actor.tenant.side === 'operator')
    throw new Problem('owner_stays', { errors: 'An operator has no other role. Remove the operator instead.' })
  if (member.role === 'owner') {
    throw new Problem('owner_stays', {
      errors: 'The role of the owner cannot be changed. Transfer ownership to another member first.',
    })
  }
  await setRole(client, member, role)
  return { ...member, role }
}

/**
 * Ends what a member may do, from the next request on. What they did keeps their name. Throws a Problem for the owner of a company or an
 * organization, and for the last operator who can sign in: no operator would be left.
 */
export async function removeMember(client: Queryable, actor: Actor, memberId: MemberId): Promise<Member> {
  await takeTurn(client, actor)
  const member = await requireMember(client, actor.tenant, memberId)
  if (actor.tenant.side === 'operator') {
    const others = (await listMembers(client, actor.tenant)).filter((each) => each.id !== memberId && each.userId)
    if (others.length === 0) throw new Problem('last_operator')
  } else if (member.role === 'owner') {
    throw new Problem('owner_stays', {
      errors: 'The owner cannot be removed. Transfer ownership to another member first.',
    })
  }
  await client.query('update membership set removed_at = clock_timestamp(), user_id = null where id = $1', [member.id])
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
  if (!member || member.role === 'member') {
    throw new Problem('role_denied', {
      errors: 'Only an owner or an admin can add, change or remove members. Ask one of them.',
    })
  }
  return member
}

async function setRole(client: Queryable, { id }: Member, role: MemberRole): Promise<void> {
  await client.query('update membership set role = $2 where id = $1', [id, role])
}
