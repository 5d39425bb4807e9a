import { addMember, type Member } from '../../../modules/membership/member.ts'
import { lockTenant, type Tenant } from '../../../modules/membership/tenant.ts'
import { inviteMember } from '../../../modules/sign-in/invitation.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { Context } from '../context.ts'

/** Adds a person and invites them: the answer's entry, with the link. Hand down a transaction: both or neither. */
export async function addFromCommandLine(
  client: Queryable,
  context: Pick<Context, 'secretKey' | 'publicUrl'>,
  tenant: Tenant,
  person: Pick<Member, 'email' | 'name' | 'role'>,
) {
  await lockTenant(client, tenant)
  const member = await addMember(client, tenant, person)
  return { ...toEntry(member), invitation: await inviteFromCommandLine(client, context, member) }
}

/** Mails a member the link that lets them in. The link is printed too, for an installation that sends no mail. */
export async function inviteFromCommandLine(
  client: Queryable,
  context: Pick<Context, 'secretKey' | 'publicUrl'>,
  member: Member,
): Promise<string> {
  const installation = { secretKey: await context.secretKey(), publicUrl: context.publicUrl }
  return (await inviteMember(client, installation, member, 'The operator of Bridgework')).link
}

/** A member as answers have it. */
export function toEntry({ id, tenant, userId, ...member }: Member) {
  return {
    id,
    ...(tenant.side === 'company' && { companyId: tenant.id }),
    ...(tenant.side === 'organization' && { organizationId: tenant.id }),
    ...member,
    state: userId === null ? 'invited' : 'active',
  }
}
