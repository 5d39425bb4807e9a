import { UsageError } from '@bridgework/command-line'
import { sides } from '@bridgework/contract/portal'
import { requireCompany } from '../../modules/directory/company.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import { insertMember, listTenantMembers, type Tenant } from '../../modules/directory/tenant-member.ts'
import { findSeat } from '../../modules/sign-in/seat.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, MemberId, OrganizationId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import { type CommandGroup, command, type Values } from './command-line.ts'
import type { Context } from './context.ts'
import { inviteFromCommandLine } from './invite.ts'
import { numericId, oneOf, optional, required, text, uuid } from './option.ts'

const tenant = {
  company: optional('<id>', 'the company, or', uuid<CompanyId>),
  organization: optional('<id>', 'the organization', numericId<OrganizationId>),
}

export const member: CommandGroup = {
  help: 'people who act for a company or an organization',
  commands: {
    add: command({
      help: 'Adds a person and invites them to the portal: the link is mailed, and printed. There is one owner.',
      options: {
        ...tenant,
        email: required('<address>', 'e-mail address, once per company or organization', text),
        name: required('<text>', 'name of the person', text),
        role: required('<role>', 'owner, admin or member', oneOf(['owner', 'admin', 'member'])),
      },
      run: async (context, { email, name, role, ...tenant }) => {
        const of = await tenantOf(context, tenant)
        const data = await withTransaction(context.pool, async (client) => {
          const { userId: _, ...added } = await insertMember(client, of, { email, name, role })
          const seat = { ...added, side: of.side, tenantId: of.id, tenantName: of.name, memberId: added.id }
          return { ...added, ...idOf(of), invitation: await inviteFromCommandLine(client, context, seat) }
        })
        const text = list({ member: data.id, email: data.email, role: data.role, invitation: data.invitation })
        return { data, text }
      },
    }),
    list: command({
      help: 'The people of a company or an organization, the owner first.',
      options: tenant,
      run: async (context, tenant) => {
        const of = await tenantOf(context, tenant)
        const data = (await listTenantMembers(context.pool, of)).map(({ userId, ...each }) => ({
          ...each,
          ...idOf(of),
          state: userId === null ? 'invited' : 'active',
        }))
        const rows = data.map((each) => [each.id, each.email, each.name, each.role, each.state, each.createdAt])
        return { data, text: table(['id', 'email', 'name', 'role', 'state', 'added'], rows) }
      },
    }),
    invite: command({
      help: 'Mails and prints a new link for a person who has not come yet; the one before opens nothing any more.',
      options: { member: required('<id>', 'the member, of any kind', uuid<MemberId>) },
      run: async (context, { member: id }) => {
        const seats = await Promise.all(sides.map((side) => findSeat(context.pool, side, id)))
        const seat = seats.find((each) => each !== null)
        if (!seat) throw new Problem('member_unknown', { errors: `There is no member ${id}.` })
        if (seat.userId !== null)
          throw new Problem('member_active', { errors: `${seat.email} has already accepted an invitation.` })
        const invitation = await withTransaction(context.pool, (client) =>
          inviteFromCommandLine(client, context, { ...seat, tenantId: seat.tenantId || null }),
        )
        const data = { id, email: seat.email, invitation }
        return { data, text: list({ member: id, email: seat.email, invitation }) }
      },
    }),
  },
}

type NamedTenant = Exclude<Tenant, { side: 'operator' }> & { name: string }

async function tenantOf({ pool }: Context, options: Values<typeof tenant>): Promise<NamedTenant> {
  const { company, organization } = options
  if (company !== undefined && organization === undefined) {
    const { id, name } = await requireCompany(pool, company)
    return { side: 'company', id, name }
  }
  if (company !== undefined || organization === undefined) {
    throw new UsageError('Give either --company <id> or --organization <id>.')
  }
  const { id, name } = await requireOrganization(pool, organization)
  return { side: 'organization', id, name }
}

function idOf(of: NamedTenant) {
  return of.side === 'company' ? { companyId: of.id } : { organizationId: of.id }
}
