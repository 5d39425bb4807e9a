import { requireLocation } from '../../modules/directory/location.ts'
import { confirmRemoval, listRemovalHolds } from '../../modules/records/removal-hold.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { table } from './answer.ts'
import type { Noun } from './command-line.ts'

export const removal: Noun = {
  help: 'mass removals that wait for a person',
  verbs: {
    list: {
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
    },
    confirm: {
      help: 'Hides what is held, but for records received since. Ask the practice first: vendors will see it as removed.',
      options: {
        location: { value: '<id>', isRequired: true, help: 'the location' },
        dataset: { value: '<name>', isRequired: true, help: 'the dataset' },
      },
      run: async ({ pool }, given) => {
        const locationId = given.numericId<LocationId>('location')
        const dataset = given.dataset('dataset')
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
    },
  },
}
