import { Problem } from '../../platform/errors/problem.ts'
import { populate } from '../../sandbox/populate.ts'
import { list } from './answer.ts'
import type { Noun } from './command-line.ts'

export const sandbox: Noun = {
  help: 'invented data, never in production',
  verbs: {
    populate: {
      help: 'Makes an organization with much invented data, granted to the demo vendor. Ctrl-C stops it; what is stored stays.',
      options: {
        locations: { value: '<number>', help: 'how many locations; without it, 10' },
        patients: { value: '<number>', help: 'patients of each location, with some 18 records each; without it, 1000' },
        seed: { value: '<text>', help: 'another text gives other data; without it, "volume"' },
      },
      run: async ({ pool, secretKey, environment, localUrl, signal, progress }, given) => {
        const shape = {
          seed: given.find('seed') ?? 'volume',
          locations: given.wholeNumber('locations', 10, 1000),
          patients: given.wholeNumber('patients', 1000, 100_000),
        }
        if (environment === 'production') throw new Problem('not_in_production')
        const deps = { pool, secretKey: await secretKey(), serverUrl: localUrl, signal }
        const data = await populate(deps, shape, (stored, total) => progress.show(stored, total, 'records')).finally(
          progress.end,
        )
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
    },
  },
}
