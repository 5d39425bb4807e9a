import type { Organization } from '../../../modules/directory/organization.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { populate } from '../../../sandbox/populate.ts'
import { list } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { optional, text, wholeNumber } from '../option.ts'

export const sandbox: CommandGroup = {
  help: 'demo data; sandbox only',
  commands: {
    populate: command({
      help: 'Creates an organization with a large amount of demo data, granted to the demo vendor. Ctrl-C stops it; stored data stays.',
      act: 'sandbox.populate',
      options: {
        locations: optional('<number>', 'how many locations (default: 10)', wholeNumber(1000)),
        patients: optional(
          '<number>',
          'patients of each location, with about 18 records each (default: 1000)',
          wholeNumber(100_000),
        ),
        seed: optional('<text>', 'another text gives other data (default: "volume")', text),
      },
      run: async ({ pool, secretKey, environment, localUrl, signal, progress }, options, record) => {
        const { seed = 'volume', locations = 10, patients = 1000 } = options
        if (environment === 'production') throw new Problem('not_in_production')
        const deps = { pool, secretKey: await secretKey(), serverUrl: localUrl, signal }
        const alongside = (client: Queryable, organization: Organization) =>
          record(client, { organization }, { side: 'organization', id: organization.id })
        const data = await populate({ ...deps, alongside }, { seed, locations, patients }, (stored, total) =>
          progress.show(stored, total, 'records'),
        ).finally(progress.end)
        const text = list({
          organization: data.organizationId,
          locations: data.locations,
          records: data.records,
          seconds: (data.durationMs / 1000).toFixed(1),
          'per second': data.recordsPerSecond,
          through: data.through,
        })
        return data.isComplete ? { data, text } : { data, text, note: 'Stopped before everything was stored.' }
      },
    }),
  },
}
