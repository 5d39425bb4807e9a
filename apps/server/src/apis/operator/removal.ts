import { requireLocation } from '../../modules/directory/location.ts'
import { confirmRemoval, listRemovalHolds } from '../../modules/records/removal-hold.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { table } from './answer.ts'
import { type CommandGroup, command } from './command-line.ts'
import { datasetName, numericId, required } from './option.ts'

export const removal: CommandGroup = {
  help: 'mass removals that wait for a person',
  commands: {
    list: command({
      help: 'What an agent no longer found, so much of it that a mistake is likelier than the truth.',
      options: {},
      run: async ({ pool }) => {
        const data = await listRemovalHolds(pool)
        const rows = data.map((hold) => [
          hold.locationId,
          hold.locationName,
          hold.dataset,
          hold.missing,
          hold.visible,
          hold.heldAt,
        ])
        return { data, text: table(['location', 'name', 'dataset', 'missing', 'of visible', 'held since'], rows) }
      },
    }),
    confirm: command({
      help: 'Hides what is held, but for records received since. Ask the practice first: vendors will see it as removed.',
      options: {
        location: required('<id>', 'the location', numericId<LocationId>),
        dataset: required('<name>', 'the dataset', datasetName),
      },
      run: async ({ pool }, { location: locationId, dataset }) => {
        await requireLocation(pool, locationId)
        const holds = await listRemovalHolds(pool)
        if (!holds.some((hold) => hold.locationId === locationId && hold.dataset === dataset)) {
          throw new Problem('removal_unknown', {
            errors: `No removal of ${dataset} waits for confirmation at location ${locationId}.`,
          })
        }
        const data = await confirmRemoval(pool, locationId, dataset)
        return { data, text: `${data.hidden} ${data.hidden === 1 ? 'record is' : 'records are'} hidden now.` }
      },
    }),
  },
}
