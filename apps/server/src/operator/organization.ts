import { createOrganization, listOrganizations } from '../directory/organization.ts'
import { list, table } from './answer.ts'
import type { Noun } from './command-line.ts'

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
      },
      run: async ({ pool }, given) => {
        const [reference, timeZone, country] = [given.find('reference'), given.find('time-zone'), given.find('country')]
        const data = await createOrganization(pool, {
          name: given.text('name'),
          ...(reference === undefined ? {} : { externalReference: reference }),
          ...(timeZone === undefined ? {} : { timeZone }),
          ...(country === undefined ? {} : { country }),
        })
        return { data, text: list({ organization: data.id, name: data.name }) }
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
