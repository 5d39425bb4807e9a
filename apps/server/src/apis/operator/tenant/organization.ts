import { UsageError } from '@bridgework/command-line'
import {
  createOrganization,
  listOrganizations,
  requireOrganization,
  setAgentUpdates,
  updateOrganization,
} from '../../../modules/directory/organization.ts'
import { countHeld } from '../../../modules/leaving/erase.ts'
import { exportOrganization } from '../../../modules/leaving/export.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { OrganizationId } from '../../../platform/identity/identity.ts'
import { list, table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { eraseFromCommandLine } from '../installation/leaving.ts'
import { numericId, oneOf, optional, required, text } from '../option.ts'
import { addFromCommandLine } from './invite.ts'

export const organization: CommandGroup = {
  help: 'practice owners',
  commands: {
    create: command({
      help: 'Creates a practice owner. Its agent reports its locations: see "agent enroll".',
      act: 'operator.organization_create',
      options: {
        name: required('<text>', 'name of the organization', text),
        reference: optional('<text>', 'your own reference, shown to vendors as external_reference', text),
        timeZone: optional('<zone>', 'IANA name like America/New_York', text),
        country: optional('<code>', 'two capital letters like US', text),
        ownerEmail: optional('<address>', 'e-mail address of its owner, who is invited to the portal', text),
        ownerName: optional('<text>', 'name of its owner', text),
      },
      run: async (context, { name, reference, timeZone, country, ownerEmail, ownerName }, record) => {
        if ((ownerEmail === undefined) !== (ownerName === undefined)) {
          throw new UsageError('Give both --owner-email and --owner-name, or neither.')
        }
        const owner = ownerEmail !== undefined && ownerName !== undefined && { email: ownerEmail, name: ownerName }
        const data = await withTransaction(context.pool, async (client) => {
          const made = await createOrganization(client, {
            name,
            ...(reference === undefined ? {} : { externalReference: reference }),
            ...(timeZone === undefined ? {} : { timeZone }),
            ...(country === undefined ? {} : { country }),
          })
          const tenant = { side: 'organization', id: made.id } as const
          await record(client, { made, ...(owner && { owner }) }, tenant)
          if (!owner) return made
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
    }),
    update: command({
      help: 'Changes the name of a practice owner, and the time zone that its agents use from their next contact on.',
      act: 'organization.update',
      options: {
        organization: required('<id>', 'the organization', numericId<OrganizationId>),
        name: optional('<text>', 'its name', text),
        timeZone: optional('<zone>', 'IANA name like America/New_York, or none: as the agents find it', text),
      },
      run: async ({ pool }, { organization: id, name, timeZone }, record) => {
        const data = await withTransaction(pool, async (client) => {
          const before = await requireOrganization(client, id)
          await updateOrganization(client, id, {
            name: name ?? before.name,
            timeZone: timeZone === 'none' ? null : timeZone,
          })
          const after = await requireOrganization(client, id)
          await record(
            client,
            { name: after.name, timeZone: after.timeZone, organization: before },
            { side: 'organization', id },
          )
          return after
        })
        return { data, text: list({ organization: id, name: data.name, 'time zone': data.timeZone ?? 'none' }) }
      },
    }),
    'set-agent-updates': command({
      help: 'Lets the agents of a practice owner take published releases by themselves, or not. See "agent-release".',
      act: 'agent_updates.change',
      options: {
        organization: required('<id>', 'the organization', numericId<OrganizationId>),
        to: required('<on|off>', 'on, or off as for each new one', oneOf(['on', 'off'])),
      },
      run: async ({ pool }, { organization: id, to }, record) => {
        const isOn = to === 'on'
        await withTransaction(pool, async (client) => {
          const organization = await requireOrganization(client, id)
          const isChanged = await setAgentUpdates(client, id, isOn)
          if (isChanged) await record(client, { isOn, organization }, { side: 'organization', id })
        })
        return { data: { organizationId: id, agentUpdates: isOn }, text: `Updates of agents are ${to}.` }
      },
    }),
    export: command({
      help: 'Writes all that is held about a practice into a new folder: records, people, grants, agreements, agents, disclosures and history, as NDJSON.',
      act: 'organization.export',
      needsReason: true,
      options: {
        organization: required('<id>', 'the organization', numericId<OrganizationId>),
        output: required('<folder>', 'the folder to create; it must not exist', text),
      },
      run: async ({ pool, signal, progress }, { organization: id, output }, record) => {
        let rows = 0
        const total = (await countHeld(pool, { side: 'organization', id })).reduce((sum, held) => sum + held.rows, 0)
        const onWritten = (more: number) => {
          rows += more
          progress.show(Math.min(rows, total), total, 'rows')
        }
        const deps = { pool, now: () => new Date(), signal, onWritten }
        const data = await exportOrganization(deps, id, output, (db, name) =>
          record(db, { organization: { id, name } }, { side: 'organization', id }),
        ).finally(progress.end)
        const files = data.files.map(({ path, rows, bytes }) => [path, rows, bytes])
        return {
          data,
          text: `${table(['file', 'rows', 'bytes'], files)}\n\nThe export is in ${data.folder}. README.txt explains it.`,
        }
      },
    }),
    erase: command({
      help: 'Erases a practice for good: records, agents and people. Disclosures, grants and the history stay, as the law requires. Shows both and asks for the name first. Repeat it after an interruption.',
      act: 'organization.erase',
      options: {
        organization: required('<id>', 'the organization', numericId<OrganizationId>),
        confirm: optional('<name>', 'the exact name, instead of typing it when asked', text),
      },
      run: async (context, { organization: id, confirm }, record) => {
        const { name } = await requireOrganization(context.pool, id)
        return eraseFromCommandLine(context, { side: 'organization', id }, name, confirm, record)
      },
    }),
    list: command({
      help: 'Lists every practice owner.',
      act: null,
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
    }),
  },
}
