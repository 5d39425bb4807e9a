import { sides } from '@bridgework/contract/portal'
import { requireCompany } from '../../modules/directory/company.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import { insertMember, listTenantMembers, type Tenant } from '../../modules/directory/tenant-member.ts'
import { findSeat } from '../../modules/sign-in/seat.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, MemberId, OrganizationId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import type { Noun } from './command-line.ts'
import type { Context } from './context.ts'
import type { Given } from './given.ts'
import { inviteFromCommandLine } from './invite.ts'
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
        const data = await withTransaction(context.pool, async (client) => {
          const { userId: _, ...added } = await insertMember(client, of, person)
          const seat = { ...added, side: of.side, tenantId: of.id, tenantName: of.name, memberId: added.id }
          return { ...added, ...idOf(of), invitation: await inviteFromCommandLine(client, context, seat) }
        })
        const text = list({ member: data.id, email: data.email, role: data.role, invitation: data.invitation })
        return { data, text }
      },
    },
    list: {
      help: 'The people of a company or an organization, the owner first.',
      options: tenant,
      run: async (context, given) => {
        const of = await tenantOf(context, given)
        const data = (await listTenantMembers(context.pool, of)).map(({ userId, ...each }) => ({
          ...each,
          ...idOf(of),
          state: userId === null ? 'invited' : 'active',
        }))
        const rows = data.map((each) => [each.id, each.email, each.name, each.role, each.state, each.createdAt])
        return { data, text: table(['id', 'email', 'name', 'role', 'state', 'added'], rows) }
      },
    },
    invite: {
      help: 'Mails and prints a new link for a person who has not come yet; the one before opens nothing any more.',
      options: { member: { value: '<id>', isRequired: true, help: 'the member, of any kind' } },
      run: async (context, given) => {
        const id = given.uuid<MemberId>('member')
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
    },
  },
}

type NamedTenant = Exclude<Tenant, { side: 'operator' }> & { name: string }

async function tenantOf({ pool }: Context, given: Given): Promise<NamedTenant> {
  if (given.has('company') === given.has('organization')) {
    throw new UsageError('Give --company <id> or --organization <id>, one of them.', '')
  }
  if (given.has('company')) {
    const { id, name } = await requireCompany(pool, given.uuid<CompanyId>('company'))
    return { side: 'company', id, name }
  }
  const { id, name } = await requireOrganization(pool, given.numericId<OrganizationId>('organization'))
  return { side: 'organization', id, name }
}

function idOf(of: NamedTenant) {
  return of.side === 'company' ? { companyId: of.id } : { organizationId: of.id }
}
