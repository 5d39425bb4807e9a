import { removeMember } from '../../modules/membership/change-member.ts'
import { listMembers } from '../../modules/membership/member.ts'
import { operator as tenant } from '../../modules/membership/tenant.ts'
import { endInvitation } from '../../modules/sign-in/people.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { MemberId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import { type CommandGroup, command } from './command-line.ts'
import { addFromCommandLine, describePerson, toEntry } from './invite.ts'
import { required, text, uuid } from './option.ts'

export const operator: CommandGroup = {
  help: 'people who run this installation',
  commands: {
    add: command({
      help: 'Adds an operator and invites them to the portal. The link is mailed and printed.',
      act: 'member.manage',
      options: {
        email: required('<address>', 'e-mail address', text),
        name: required('<text>', 'name of the person', text),
      },
      run: async (context, { email, name }, record) => {
        const person = { email, name, role: 'owner' } as const
        const data = await withTransaction(context.pool, async (client) => {
          const added = await addFromCommandLine(client, context, tenant, person)
          await record(client, `Invited ${describePerson(added)}`)
          return added
        })
        return { data, text: list({ operator: data.id, email: data.email, invitation: data.invitation }) }
      },
    }),
    list: command({
      help: 'Lists every operator.',
      act: null,
      options: {},
      run: async ({ pool }) => {
        const data = (await listMembers(pool, tenant)).map(toEntry)
        const rows = data.map((each) => [each.id, each.email, each.name, each.state, each.createdAt])
        return { data, text: table(['id', 'email', 'name', 'state', 'added'], rows) }
      },
    }),
    remove: command({
      help: 'Removes an operator, from the next request on. At least one operator who can sign in must remain.',
      act: 'member.manage',
      options: { operator: required('<id>', 'the operator', uuid<MemberId>) },
      run: async ({ pool }, { operator: id }, record) => {
        const data = await withTransaction(pool, async (client) => {
          const found = (await listMembers(client, tenant)).find((each) => each.id === id)
          if (!found) throw new Problem('member_unknown', { errors: `There is no operator ${id}.` })
          await removeMember(client, found, id)
          await endInvitation(client, id)
          await record(client, `Removed ${describePerson(found)}`)
          return { id, email: found.email }
        })
        return { data, text: `${data.email} is no longer an operator.` }
      },
    }),
  },
}
