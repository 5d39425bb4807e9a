import { closeCompany, listCompanies, resumeCompany, suspendCompany } from '../../modules/directory/company.ts'
import { createCompany } from '../../modules/membership/create-tenant.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { list, table } from './answer.ts'
import type { Noun, Verb } from './command-line.ts'
import { inviteFromCommandLine, toEntry } from './invite.ts'

export const company: Noun = {
  help: 'software vendors',
  verbs: {
    create: {
      help: 'Makes a vendor company with its owner, who is invited by mail and has to accept the agreement before it gets a key pair.',
      options: {
        name: { value: '<text>', isRequired: true, help: 'name of the company' },
        'owner-email': { value: '<address>', isRequired: true, help: 'e-mail address of the account owner' },
        'owner-name': { value: '<text>', isRequired: true, help: 'name of the account owner' },
      },
      run: async (context, given) => {
        const data = await withTransaction(context.pool, async (client) => {
          const { company, owner } = await createCompany(client, {
            name: given.text('name'),
            owner: { email: given.text('owner-email'), name: given.text('owner-name') },
          })
          const invitation = await inviteFromCommandLine(client, context, owner)
          return { company, owner: toEntry(owner), invitation }
        })
        const text = list({
          company: data.company.id,
          name: data.company.name,
          owner: data.owner.id,
          email: data.owner.email,
          invitation: data.invitation,
        })
        return { data, text }
      },
    },
    list: {
      help: 'Every vendor company.',
      options: {},
      run: async ({ pool }) => {
        const data = await listCompanies(pool)
        const rows = data.map((each) => [each.id, each.name, each.state, each.createdAt])
        return { data, text: table(['id', 'name', 'state', 'created'], rows) }
      },
    },
    suspend: changing(
      'Refuses the company’s tokens and gives it no new ones, from its next request on. Nothing is lost.',
      suspendCompany,
    ),
    resume: changing('Ends a suspension.', resumeCompany),
    close: changing('As suspend, for good: a closed company cannot be resumed.', closeCompany),
  },
}

function changing(help: string, change: typeof suspendCompany): Verb {
  return {
    help,
    options: { company: { value: '<id>', isRequired: true, help: 'the company' } },
    run: async ({ pool }, given) => {
      const data = await change(pool, given.uuid<CompanyId>('company'))
      return { data, text: `${data.name} is ${data.state}.` }
    },
  }
}
