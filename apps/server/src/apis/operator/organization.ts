import { createOrganization, listOrganizations } from '../../modules/directory/organization.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import { list, table } from './answer.ts'
import type { Noun } from './command-line.ts'
import { addFromCommandLine } from './invite.ts'

export const organization: Noun = {
  help: 'practice owners',
  verbs: {
    create: {
      help: 'Makes a practice owner. Its locations come with its agent: see "agent enroll".',
      options: {
        name: { value: '<text>', isRequired: true, help: 'name of the organization' },
        reference: { value: '<text>', help: 'your own reference, shown to vendors as external_reference' },
        'time-zone': { value: '<zone>', help: 'IANA name like America/New_York' },
        country: { value: '<code>', help: 'two capital letters like US' },
        'owner-email': { value: '<address>', help: 'e-mail address of its owner, who is invited to the portal' },
        'owner-name': { value: '<text>', help: 'name of its owner' },
      },
      run: async (context, given) => {
        const [reference, timeZone, country] = [given.find('reference'), given.find('time-zone'), given.find('country')]
        const hasOwner = given.has('owner-email') || given.has('owner-name')
        const owner = hasOwner && { email: given.text('owner-email'), name: given.text('owner-name') }
        const data = await withTransaction(context.pool, async (client) => {
          const made = await createOrganization(client, {
            name: given.text('name'),
            ...(reference === undefined ? {} : { externalReference: reference }),
            ...(timeZone === undefined ? {} : { timeZone }),
            ...(country === undefined ? {} : { country }),
          })
          if (!owner) return made
          const tenant = { side: 'organization', id: made.id } as const
          const { invitation, ...added } = await addFromCommandLine(client, context, tenant, {
            ...owner,
            role: 'owner',
          })
          return { ...made, owner: added, invitation }
        })
        const text = list({
          organization: data.id,
          name: data.name,
          ...('owner' in data && { owner: data.owner.id, email: data.owner.email, invitation: data.invitation }),
        })
        return { data, text }
      },
    },
    list: {
      help: 'Every practice owner.',
      options: {},
      run: async ({ pool }) => {
        const data = await listOrganizations(pool)
        const rows = data.map((each) => [
          each.id,
          each.name,
          each.externalReference,
          each.timeZone,
          each.country,
          each.createdAt,
        ])
        return { data, text: table(['id', 'name', 'reference', 'time zone', 'country', 'created'], rows) }
      },
    },
  },
}
