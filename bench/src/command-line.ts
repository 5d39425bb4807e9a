import { parseArgs } from 'node:util'

export type BenchOptions = {
  /** Plans of the location that is read. */
  plans: number
  rounds: number
  seconds: number
  json: boolean
}

export const usage = `npm run bench -- [--quick] [--json] [--plans <n>] [--rounds <n>] [--seconds <n>]
  --quick    one short round of each comparison: to see that it runs, not to compare
  --json     one JSON object on stdout instead of the tables
  --plans    insurance plans of the location that is read (50000; at least 10000)
  --rounds   rounds of each comparison (3)
  --seconds  length of a round on each side (3)`

/** Throws an Error whose message is for the person at the terminal. */
export function readCommandLine(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      plans: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
    },
  })
  return {
    plans: wholeNumber('plans', values.plans, 10_000) ?? 50_000,
    rounds: wholeNumber('rounds', values.rounds, 1) ?? (values.quick ? 1 : 3),
    seconds: wholeNumber('seconds', values.seconds, 1) ?? (values.quick ? 1 : 3),
    json: values.json,
  }
}

function wholeNumber(name: string, text: string | undefined, min: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min) return value
  throw new Error(`--${name} must be a whole number of at least ${min}.`)
}
