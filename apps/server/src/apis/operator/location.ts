import { listLocations } from '../../modules/directory/location.ts'
import { requireOrganization } from '../../modules/directory/organization.ts'
import type { OrganizationId } from '../../platform/identity/identity.ts'
import { table } from './answer.ts'
import { type CommandGroup, command } from './command-line.ts'
import { numericId, optional } from './option.ts'

export const location: CommandGroup = {
  help: 'locations, as agents report them',
  commands: {
    list: command({
      help: 'Lists the locations of all organizations, or of one.',
      options: { organization: optional('<id>', 'only the locations of this organization', numericId<OrganizationId>) },
      run: async ({ pool }, { organization: organizationId }) => {
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
    }),
  },
}
