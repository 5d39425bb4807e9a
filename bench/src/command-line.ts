import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type WorkName, workNames } from './works/row.ts'

export type BenchOptions = {
  /** Plans of the location that is read. */
  plans: number
  rounds: number
  seconds: number
  isQuick: boolean
  json: boolean
  /** Write the results, the page about them and its plots. */
  report: boolean
  only: readonly WorkName[]
  /** Another checkout of this repository, measured in turn with this one. */
  against: string | null
}

export const usage = `npm run bench -- [--quick] [--only <work>]… [--against <folder>] [--report] [--json]
  --quick    one short round of each, without peers: to see that it runs, not to compare
  --only     one work, may be repeated: ${workNames.join(', ')}
  --against  another checkout with its packages installed, measured in turn with this one (ingest, page, delta)
  --report   writes bench/results.json, docs/performance.md and its plots. With --only: those works anew, the rest as it was
  --json     one JSON object on stdout instead of the tables
  --plans    insurance plans of the location that is read (50000; at least 10000)
  --rounds   rounds of each comparison (3)
  --seconds  length of a round (2)`

/** Throws an Error whose message is for the person at the terminal. */
export function readCommandLine(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      against: { type: 'string' },
      plans: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
    },
  })
  return {
    plans: wholeNumber('plans', values.plans, 10_000) ?? (values.quick ? 10_000 : 50_000),
    rounds: wholeNumber('rounds', values.rounds, 1) ?? (values.quick ? 1 : 3),
    seconds: wholeNumber('seconds', values.seconds, 1) ?? (values.quick ? 1 : 2),
    isQuick: values.quick,
    json: values.json,
    report: values.report,
    only: values.only.map(workName),
    against: values.against === undefined ? null : resolve(values.against),
  }
}

function workName(text: string): WorkName {
  const found = workNames.find((name) => name === text)
  if (found !== undefined) return found
  throw new Error(`--only must be one of: ${workNames.join(', ')}.`)
}

function wholeNumber(name: string, text: string | undefined, min: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min) return value
  throw new Error(`--${name} must be a whole number of at least ${min}.`)
}
