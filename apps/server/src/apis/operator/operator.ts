import { rolesOf } from '@bridgework/contract/portal'
import { endMembership, giveRole } from '../../modules/membership/change-member.ts'
import { listMembers } from '../../modules/membership/member.ts'
import { operator as tenant } from '../../modules/membership/tenant.ts'
import { endInvitation } from '../../modules/sign-in/people.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import type { MemberId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import { type CommandGroup, command } from './command-line.ts'
import { oneOf, optional, required, text, uuid } from './option.ts'
import { addFromCommandLine, toEntry } from './tenant/invite.ts'

const role = oneOf(rolesOf.operator)

export const operator: CommandGroup = {
  help: 'people who run this installation',
  commands: {
    add: command({
      help: 'Adds an operator and invites them to the portal. The link is mailed and printed.',
      act: 'member.manage',
      options: {
        email: required('<address>', 'e-mail address', text),
        name: required('<text>', 'name of the person', text),
        role: optional('<role>', 'admin: may do everything (default); support: reads, and acts with a reason', role),
      },
      run: async (context, { email, name, role = 'admin' }, record) => {
        const person = { email, name, role }
        const data = await withTransaction(context.pool, async (client) => {
          const added = await addFromCommandLine(client, context, tenant, person)
          await record(client, { change: 'invited', member: added, role })
          return added
        })
        return {
          data,
          text: list({ operator: data.id, email: data.email, role: data.role, invitation: data.invitation }),
        }
      },
    }),
    list: command({
      help: 'Lists every operator.',
      act: null,
      options: {},
      run: async ({ pool }) => {
        const data = (await listMembers(pool, tenant)).map(toEntry)
        const rows = data.map((each) => [each.id, each.email, each.name, each.role, each.state, each.createdAt])
        return { data, text: table(['id', 'email', 'name', 'role', 'state', 'added'], rows) }
      },
    }),
    'set-role': command({
      help: 'Gives an operator another role, from the next request on. At least one admin who can sign in must remain.',
      act: 'member.manage',
      options: {
        operator: required('<id>', 'the operator', uuid<MemberId>),
        role: required('<role>', 'admin or support', role),
      },
      run: async ({ pool }, { operator: id, role }, record) => {
        const data = await withTransaction(pool, async (client) => {
          const member = await giveRole(client, tenant, id, role)
          await record(client, { change: 'made', member, role })
          return { id, email: member.email, role }
        })
        return { data, text: `${data.email} is now ${role === 'admin' ? 'an admin' : 'in support'}.` }
      },
    }),
    remove: command({
      help: 'Removes an operator, from the next request on. At least one admin who can sign in must remain.',
      act: 'member.manage',
      options: { operator: required('<id>', 'the operator', uuid<MemberId>) },
      run: async ({ pool }, { operator: id }, record) => {
        const data = await withTransaction(pool, async (client) => {
          const found = await endMembership(client, tenant, id)
          await endInvitation(client, id)
          await record(client, { change: 'removed', member: found })
          return { id, email: found.email }
        })
        return { data, text: `${data.email} is no longer an operator.` }
      },
    }),
  },
}
