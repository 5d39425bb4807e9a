import { requireCompany } from '../../modules/directory/company.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import { findMember, listMembers } from '../../modules/membership/member.ts'
import type { Tenant } from '../../modules/membership/tenant.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, MemberId, OrganizationId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import type { Noun } from './command-line.ts'
import type { Context } from './context.ts'
import type { Given } from './given.ts'
import { addFromCommandLine, inviteFromCommandLine, toEntry } from './invite.ts'
import { UsageError } from './usage-error.ts'

const tenant = {
  company: { value: '<id>', help: 'the company, or' },
  organization: { value: '<id>', help: 'the organization' },
}

export const member: Noun = {
  help: 'people who act for a company or an organization',
  verbs: {
    add: {
      help: 'Adds a person and invites them to the portal: the link is mailed, and printed. There is one owner.',
      options: {
        ...tenant,
        email: { value: '<address>', isRequired: true, help: 'e-mail address, once per company or organization' },
        name: { value: '<text>', isRequired: true, help: 'name of the person' },
        role: { value: 'owner|admin|member', isRequired: true, help: 'what the person may do' },
      },
      run: async (context, given) => {
        const person = {
          email: given.text('email'),
          name: given.text('name'),
          role: given.oneOf('role', ['owner', 'admin', 'member']),
        }
        const of = await tenantOf(context, given)
        const data = await withTransaction(context.pool, (client) => addFromCommandLine(client, context, of, person))
        const text = list({ member: data.id, email: data.email, role: data.role, invitation: data.invitation })
        return { data, text }
      },
    },
    list: {
      help: 'The people of a company or an organization, the owner first.',
      options: tenant,
      run: async (context, given) => {
        const data = (await listMembers(context.pool, await tenantOf(context, given))).map(toEntry)
        const rows = data.map((each) => [each.id, each.email, each.name, each.role, each.state, each.createdAt])
        return { data, text: table(['id', 'email', 'name', 'role', 'state', 'added'], rows) }
      },
    },
    invite: {
      help: 'Mails and prints a new link for a person who has not accepted yet. The link before stops working.',
      options: { member: { value: '<id>', isRequired: true, help: 'the member, of any kind' } },
      run: async (context, given) => {
        const id = given.uuid<MemberId>('member')
        const member = await findMember(context.pool, id)
        if (!member) throw new Problem('member_unknown', { errors: `There is no member ${id}.` })
        const { email, userId } = member
        if (userId !== null) {
          throw new Problem('member_active', { errors: `${email} has already accepted an invitation.` })
        }
        const invitation = await withTransaction(context.pool, (client) =>
          inviteFromCommandLine(client, context, member),
        )
        return { data: { id, email, invitation }, text: list({ member: id, email, invitation }) }
      },
    },
  },
}

/** The company or organization that is named; it exists. */
async function tenantOf({ pool }: Context, given: Given): Promise<Tenant> {
  if (given.has('company') === given.has('organization')) {
    throw new UsageError('Give --company <id> or --organization <id>, one of them.', '')
  }
  if (given.has('company')) {
    return { side: 'company', id: (await requireCompany(pool, given.uuid<CompanyId>('company'))).id }
  }
  const id = given.numericId<OrganizationId>('organization')
  return { side: 'organization', id: (await requireOrganization(pool, id)).id }
}
