import { removeMember } from '../../modules/membership/change-member.ts'
import { listMembers } from '../../modules/membership/member.ts'
import { operator as tenant } from '../../modules/membership/tenant.ts'
import { endInvitation } from '../../modules/sign-in/people.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { MemberId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import type { Noun } from './command-line.ts'
import { addFromCommandLine, toEntry } from './invite.ts'

export const operator: Noun = {
  help: 'people who run this installation',
  verbs: {
    add: {
      help: 'Invites a person to the operator’s side of the portal. The link is mailed, and printed.',
      options: {
        email: { value: '<address>', isRequired: true, help: 'e-mail address' },
        name: { value: '<text>', isRequired: true, help: 'name of the person' },
      },
      run: async (context, given) => {
        const person = { email: given.text('email'), name: given.text('name'), role: 'owner' } as const
        const data = await withTransaction(context.pool, (client) =>
          addFromCommandLine(client, context, tenant, person),
        )
        return { data, text: list({ operator: data.id, email: data.email, invitation: data.invitation }) }
      },
    },
    list: {
      help: 'Every operator.',
      options: {},
      run: async ({ pool }) => {
        const data = (await listMembers(pool, tenant)).map(toEntry)
        const rows = data.map((each) => [each.id, each.email, each.name, each.state, each.createdAt])
        return { data, text: table(['id', 'email', 'name', 'state', 'added'], rows) }
      },
    },
    remove: {
      help: 'Ends what an operator may do, from the next request on. Somebody must be left who can sign in.',
      options: { operator: { value: '<id>', isRequired: true, help: 'the operator' } },
      run: async ({ pool }, given) => {
        const id = given.uuid<MemberId>('operator')
        const data = await withTransaction(pool, async (client) => {
          const found = (await listMembers(client, tenant)).find((each) => each.id === id)
          if (!found) throw new Problem('member_unknown', { errors: `There is no operator ${id}.` })
          await removeMember(client, found, id)
          await endInvitation(client, id)
          return { id, email: found.email }
        })
        return { data, text: `${data.email} is no operator any more.` }
      },
    },
  },
}
