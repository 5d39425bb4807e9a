import { listLocations } from '../../modules/directory/location.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import type { OrganizationId } from '../../platform/identity/identity.ts'
import { table } from './answer.ts'
import type { Noun } from './command-line.ts'

export const location: Noun = {
  help: 'practices, as the agents found them',
  verbs: {
    list: {
      help: 'The locations of all organizations, or of one.',
      options: { organization: { value: '<id>', help: 'only this organization’s' } },
      run: async ({ pool }, given) => {
        const organizationId = given.findNumericId<OrganizationId>('organization')
        if (organizationId !== undefined) await requireOrganization(pool, organizationId)
        const data = await listLocations(pool, organizationId ?? null)
        const rows = data.map((each) => [
          each.id,
          each.organizationId,
          each.name,
          each.city,
          each.state,
          each.isActive ? 'yes' : 'no',
          [each.practiceManagementSystem.name, each.practiceManagementSystem.version].filter(Boolean).join(' ') || null,
        ])
        return { data, text: table(['id', 'organization', 'name', 'city', 'state', 'active', 'system'], rows) }
      },
    },
  },
}
