import { requireText, violates } from './field.ts'
import { type MemberId, newUuid, type OrganizationId } from './identity.ts'
import { type MemberRole, requireEmail } from './member.ts'
import type { Queryable } from './queryable.ts'
import { Refusal } from './refusal.ts'

/** A person who acts for a practice's organization. */
export type OrganizationMember = {
  id: MemberId
  organizationId: OrganizationId
  email: string
  name: string
  role: MemberRole
}

/** Adds a member. Throws a Refusal when the organization has this e-mail address already, or has an owner and gets another. */
export async function addOrganizationMember(
  db: Queryable,
  member: { organizationId: OrganizationId; email: string; name: string; role: MemberRole },
): Promise<OrganizationMember> {
  const added = {
    id: newUuid<MemberId>(),
    organizationId: member.organizationId,
    email: requireEmail(member.email),
    name: requireText(member.name, 'the name of a member'),
    role: member.role,
  }
  try {
    await db.query(
      'insert into organization_member (id, organization_id, email, name, role) values ($1, $2, $3, $4, $5)',
      [added.id, added.organizationId, added.email, added.name, added.role],
    )
    return added
  } catch (error) {
    if (violates(error, 'organization_member_email')) {
      throw new Refusal('member_exists', 'This e-mail address belongs to a member of the organization already.')
    }
    if (violates(error, 'organization_member_one_owner')) {
      throw new Refusal('owner_exists', 'The organization has an owner already: an organization has exactly one.')
    }
    if (violates(error, 'organization_member_organization_id_fkey')) {
      throw new Refusal('organization_unknown', `There is no organization ${member.organizationId}.`)
    }
    throw error
  }
}
