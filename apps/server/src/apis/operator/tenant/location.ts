import { assignTimeZone, listLocations, requireLocation } from '../../../modules/directory/location.ts'
import { requireOrganization } from '../../../modules/directory/organization.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { LocationId, OrganizationId } from '../../../platform/identity/identity.ts'
import { list, table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { numericId, optional, required, text } from '../option.ts'

export const location: CommandGroup = {
  help: 'locations, as agents report them',
  commands: {
    update: command({
      help: 'Sets the time zone of a location. Its agent uses it from its next contact on.',
      act: 'location.update',
      options: {
        location: required('<id>', 'the location', numericId<LocationId>),
        timeZone: required('<zone>', 'IANA name like America/New_York, or none: as the agent finds it', text),
      },
      run: async ({ pool }, { location: id, timeZone: zone }, record) => {
        const { name, assignedTimeZone, timeZone } = await withTransaction(pool, async (client) => {
          await assignTimeZone(client, id, zone === 'none' ? null : zone)
          const after = await requireLocation(client, id)
          const facts = { location: after, timeZone: after.assignedTimeZone }
          await record(client, facts, { side: 'organization', id: after.organizationId })
          return after
        })
        const data = { id, name, assignedTimeZone, timeZone }
        return { data, text: list({ location: id, name, 'time zone': assignedTimeZone ?? 'none', 'in use': timeZone }) }
      },
    }),
    list: command({
      help: 'Lists the locations of all organizations, or of one.',
      act: null,
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
          each.timeZone,
          each.assignedTimeZone,
          each.isActive ? 'yes' : 'no',
          [each.practiceManagementSystem.name, each.practiceManagementSystem.version].filter(Boolean).join(' ') || null,
        ])
        return {
          data,
          text: table(['id', 'organization', 'name', 'city', 'state', 'time zone', 'set', 'active', 'system'], rows),
        }
      },
    }),
  },
}
