import { UsageError } from '@bridgework/command-line'
import { requireCompany } from '../../../modules/directory/company.ts'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import { findMember, listMembers } from '../../../modules/membership/member.ts'
import type { Tenant } from '../../../modules/membership/tenant.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { CompanyId, MemberId, OrganizationId } from '../../../platform/identity/identity.ts'
import { list, table } from '../answer.ts'
import { type CommandGroup, command, type Values } from '../command-line.ts'
import type { Context } from '../context.ts'
import { numericId, oneOf, optional, required, text, uuid } from '../option.ts'
import { addFromCommandLine, inviteFromCommandLine, toEntry } from './invite.ts'

const tenant = {
  company: optional('<id>', 'the company, or', uuid<CompanyId>),
  organization: optional('<id>', 'the organization', numericId<OrganizationId>),
}

export const member: CommandGroup = {
  help: 'people who act for a company or an organization',
  commands: {
    add: command({
      help: 'Adds a person and invites them to the portal. The link is mailed and printed. Each company or organization has one owner.',
      act: 'member.manage',
      options: {
        ...tenant,
        email: required('<address>', 'e-mail address, once per company or organization', text),
        name: required('<text>', 'name of the person', text),
        role: required('<role>', 'owner, admin or member', oneOf(['owner', 'admin', 'member'])),
      },
      run: async (context, { email, name, role, company, organization }, record) => {
        const of = await tenantOf(context, { company, organization })
        const data = await withTransaction(context.pool, async (client) => {
          const added = await addFromCommandLine(client, context, of, { email, name, role })
          await record(client, { change: 'invited', member: added, role }, of)
          return added
        })
        const text = list({ member: data.id, email: data.email, role: data.role, invitation: data.invitation })
        return { data, text }
      },
    }),
    list: command({
      help: 'Lists the members of a company or an organization, the owner first.',
      act: null,
      options: tenant,
      run: async (context, tenant) => {
        const data = (await listMembers(context.pool, await tenantOf(context, tenant))).map(toEntry)
        const rows = data.map((each) => [each.id, each.email, each.name, each.role, each.state, each.createdAt])
        return { data, text: table(['id', 'email', 'name', 'role', 'state', 'added'], rows) }
      },
    }),
    invite: command({
      help: 'Mails and prints a new link for a person who has not accepted yet. The link before stops working.',
      act: 'member.manage',
      options: { member: required('<id>', 'the member, of any kind', uuid<MemberId>) },
      run: async (context, { member: id }, record) => {
        const member = await findMember(context.pool, id)
        if (!member) throw new Problem('member_unknown', { errors: `There is no member ${id}.` })
        const { email, userId } = member
        if (userId !== null) {
          throw new Problem('member_active', { errors: `${email} has already accepted an invitation.` })
        }
        const invitation = await withTransaction(context.pool, async (client) => {
          const { side, id: tenantId } = member.tenant
          const concerned = side === 'operator' ? undefined : { side, id: tenantId }
          await record(client, { change: 'invited again', member }, concerned)
          return await inviteFromCommandLine(client, context, member)
        })
        return { data: { id, email, invitation }, text: list({ member: id, email, invitation }) }
      },
    }),
  },
}

/** The company or organization that is named; it exists. */
async function tenantOf(
  { pool }: Context,
  { company, organization }: Values<typeof tenant>,
): Promise<Exclude<Tenant, { side: 'operator' }>> {
  if (company !== undefined && organization === undefined) {
    return { side: 'company', id: (await requireCompany(pool, company)).id }
  }
  if (company !== undefined || organization === undefined) {
    throw new UsageError('Give either --company <id> or --organization <id>.')
  }
  return { side: 'organization', id: (await requireOrganization(pool, organization)).id }
}
