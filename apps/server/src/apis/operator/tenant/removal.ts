import { requireLocation } from '../../../modules/directory/location.ts'
import { listCurrentRemovals } from '../../../modules/overview/sync-health.ts'
import { confirmRemoval } from '../../../modules/records/removals/removal-decision.ts'
import { findCurrentRemoval } from '../../../modules/records/removals/removal-store.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import { table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { datasetName, numericId, optional, required, text } from '../option.ts'

export const removal: CommandGroup = {
  help: 'large removals, which wait for a person',
  commands: {
    list: command({
      help: 'Lists removals that wait for a person, and removals that are being carried out (at most 100).',
      act: null,
      options: {},
      run: async ({ pool }) => {
        const data = await listCurrentRemovals(pool)
        const rows = data.map((each) => [
          each.location_id,
          each.location_name,
          each.dataset,
          each.state,
          each.remaining,
          each.visible,
          each.held_at,
          each.list_hash,
          each.attempts > 0 ? `failed ${each.attempts} times: ${each.last_error}` : null,
        ])
        const columns = ['location', 'name', 'dataset', 'state', 'to hide', 'of visible', 'since', 'list', 'problem']
        return { data, text: table(columns, rows) }
      },
    }),
    confirm: command({
      help: 'Hides what is on a held list, except records received since. Ask the practice first: vendors will see the records as removed.',
      act: 'removal.decide',
      options: {
        location: required('<id>', 'the location', numericId<LocationId>),
        dataset: required('<name>', 'the dataset', datasetName),
        list: optional(
          '<hash>',
          'the list that you confirm; without it the command shows the list and hides nothing',
          text,
        ),
      },
      run: async ({ pool }, { location: locationId, dataset, list: listHash }, record) => {
        const { name, organizationId } = await requireLocation(pool, locationId)
        const held = await findCurrentRemoval(pool, { locationId, dataset })
        if (held?.state !== 'held') {
          throw new Problem('removal_unknown', {
            errors: `No removal of ${dataset} waits for confirmation at location ${locationId}.`,
          })
        }
        if (listHash === undefined) {
          throw new Problem('removal_changed', {
            errors: `This would hide ${held.remaining} of ${held.visible} records. To confirm it, run the command again with --list ${held.listHash}.`,
          })
        }
        const data = await confirmRemoval(pool, locationId, dataset, listHash, (client, { hidden, remaining }) => {
          const facts = { dataset, location: { id: locationId, name }, records: hidden, remaining }
          return record(client, { decision: 'confirmed', ...facts }, { side: 'organization', id: organizationId })
        })
        const message = `${data.hidden} ${data.hidden === 1 ? 'record is' : 'records are'} hidden now.`
        const more = `The server hides ${data.remaining} more; "removal list" shows the progress.`
        return { data, text: data.remaining > 0 ? `${message} ${more}` : message }
      },
    }),
  },
}
